import Foundation

/// The localized texts of an app in all its languages, with the languages that the user prefers.
/// This type is Petrel's own; Apple's CloudKit has no such type.
///
/// A subscription may contain the key of a text in place of the text itself
/// (`alertLocalizationKey`). Apple's systems find the text in the app's bundle. A program without a
/// bundle loads the same files into this type:
///
/// ```swift
/// let strings = try PetrelStrings(contentsOf: URL(fileURLWithPath: "Strings"))
/// strings.text(forKey: "EARTHQUAKE_%1$@_%2$@", arguments: ["6.4", "24 km from Suva"])
/// ```
///
/// docs/reference/localization.md has the rules for the files, the choice of a language and the
/// placeholders.
public struct PetrelStrings: Sendable, Hashable {
  /// The languages that the user prefers, the most preferred first, as BCP 47 tags such as `de-AT`.
  public var languages: [String]

  /// The texts. The first key is the language tag in lower case, the second the key of the text.
  private let tables: [String: [String: String]]
  /// The languages to try after those in ``languages``, in lower case.
  private let fallbacks: [String]

  init(tables: [String: [String: String]], fallbacks: [String], languages: [String]) {
    self.languages = languages
    self.fallbacks = fallbacks.map(LanguageTag.canonical)
    self.tables = Dictionary(
      tables.map { (LanguageTag.canonical($0.key), $0.value) },
      uniquingKeysWith: { $0.merging($1) { first, _ in first } })
  }

  /// Returns the text of a key in the first language that has the key. The arguments replace the
  /// placeholders of the text.
  ///
  /// The method first tries each of ``languages`` by the lookup of RFC 4647 (`de-AT`, then `de`).
  /// Last it tries the language in which the app is developed: the source language of a string
  /// catalog, or `Base` and then `en` of `.lproj` folders.
  ///
  /// `%@` and `%1$@` are replaced by arguments as in Foundation's `String(format:)`, and `%%` is a
  /// percent sign. The arguments of a push are texts, so a placeholder for a number, such as `%d`,
  /// is also replaced by the unchanged text of its argument. A placeholder without an argument
  /// becomes empty. An argument without a placeholder is ignored.
  public func text(forKey key: String, arguments: [String] = []) -> String? {
    let wanted = languages.lazy.flatMap(LanguageTag.lookup)
    for language in wanted {
      if let text = tables[language]?[key] { return StringTemplate.fill(text, with: arguments) }
    }
    for language in fallbacks {
      if let text = tables[language]?[key] { return StringTemplate.fill(text, with: arguments) }
    }
    return nil
  }
}
