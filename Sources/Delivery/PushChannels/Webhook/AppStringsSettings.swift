import Foundation
import Settings
import StringTables

/// The app's strings of one container, from which webhooks get the texts of localised alerts.
public struct AppStringsSettings: Sendable, Hashable {
  public var folder: URL
  public var languages: [String]

  public init(folder: URL, languages: [String] = []) {
    self.folder = folder
    self.languages = languages
  }

  package static let table = SettingTable(
    AppStringsSettings(folder: URL(fileURLWithPath: "/")),
    [
      .init(
        "folder", \.folder, .folder, required: true,
        "The folder with `Localizable.xcstrings`, or with folders such as `en.lproj`."),
      .init(
        "languages", \.languages, .texts, default: "the development language",
        "The languages of the texts, such as `[\"de-AT\", \"en\"]`, the most wanted first."),
    ])

  /// - Throws: ``ConfigurationError`` naming the file, the line where it can, and the rule.
  package func read(container: String) throws(ConfigurationError) -> PetrelStrings {
    do throws(PetrelStringsError) {
      return try PetrelStrings(contentsOf: folder, languages: languages)
    } catch {
      throw ConfigurationError("containers: \(container): strings: \(error)")
    }
  }
}
