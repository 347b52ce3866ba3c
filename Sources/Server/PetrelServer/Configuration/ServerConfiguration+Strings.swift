import Foundation
import StringTables

extension ServerConfiguration {
  /// The app's strings of one container, from which webhooks get the texts of localised alerts.
  public struct Strings: Sendable, Hashable {
    /// The folder with `Localizable.xcstrings` or with folders such as `en.lproj`.
    public var folder: URL
    /// The languages of the texts, the most wanted first; without one it is the development language.
    public var languages: [String]

    public init(folder: URL, languages: [String] = []) {
      self.folder = folder
      self.languages = languages
    }

    /// - Throws: ``ConfigurationError`` naming the file, the line where it can, and the rule.
    func read(container: String) throws(ConfigurationError) -> PetrelStrings {
      do throws(PetrelStringsError) {
        return try PetrelStrings(contentsOf: folder, languages: languages)
      } catch {
        throw ConfigurationError("containers: \(container): strings: \(error)")
      }
    }
  }
}

extension ServerConfiguration.Strings {
  init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    try reader.allow(["folder", "languages"])
    self.init(
      folder: URL(fileURLWithPath: reader.file(try reader.required("folder"))),
      languages: try reader.strings("languages") ?? [])
  }
}
