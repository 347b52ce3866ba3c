import Foundation
import Settings
import StringTables

/// The settings for the localised strings of one container's app. From these strings, the server
/// takes the texts of localised alerts for webhooks.
public struct AppStringsSettings: Sendable, Hashable {
  /// The folder with `Localizable.xcstrings`, or with folders such as `en.lproj`.
  public var folder: URL
  /// The languages of the texts, the preferred one first. If the list is empty, the texts are in
  /// the development language of the strings.
  public var languages: [String]

  /// Creates settings.
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
        "The languages of the texts in order of preference, such as `[\"de-AT\", \"en\"]`."),
    ])

  /// Reads the strings.
  ///
  /// - Throws: `ConfigurationError` if the strings cannot be read. It names the container, the
  ///   file, the line if known, and the rule.
  package func read(container: String) throws(ConfigurationError) -> PetrelStrings {
    do throws(PetrelStringsError) {
      return try PetrelStrings(contentsOf: folder, languages: languages)
    } catch {
      throw ConfigurationError("containers: \(container): strings: \(error)")
    }
  }
}
