import Foundation

/// An app's strings in all its languages, with the languages that a reader prefers. This type is
/// Petrel's own; Apple's CloudKit has none like it.
///
/// A subscription may name a string instead of a text (`alertLocalizationKey`). Apple's systems
/// find the string in the app's bundle. Without a bundle, a program loads the same files into this
/// type:
///
/// ```swift
/// let strings = try PetrelStrings(contentsOf: URL(fileURLWithPath: "Strings"))
/// strings.text(forKey: "EARTHQUAKE_%1$@_%2$@", arguments: ["6.4", "24 km from Suva"])
/// ```
///
/// docs/localization.md has the rules for the files, the choice of a language and the placeholders.
public struct PetrelStrings: Sendable, Hashable {
  /// The languages that the reader wants, the most wanted first, as BCP 47 tags such as `de-AT`.
  public var languages: [String]

  /// The texts by language tag in lower case, then by key.
  private let tables: [String: [String: String]]
  /// The languages to try last, in lower case.
  private let fallbacks: [String]

  /// Creates a value from texts in memory.
  ///
  /// - Parameters:
  ///   - tables: the texts by language, then by key.
  ///   - fallbacks: the languages to try after those that the reader wants.
  ///   - languages: the languages that the reader wants, the most wanted first.
  init(tables: [String: [String: String]], fallbacks: [String], languages: [String]) {
    self.languages = languages
    self.fallbacks = fallbacks.map(LanguageTag.canonical)
    self.tables = Dictionary(
      tables.map { (LanguageTag.canonical($0.key), $0.value) },
      uniquingKeysWith: { $0.merging($1) { first, _ in first } })
  }

  /// Returns the text of a key in the first language that has it, with the arguments in place of
  /// its placeholders.
  ///
  /// The languages are those of ``languages``, each by the lookup of RFC 4647 (`de-AT`, then `de`),
  /// then the development language. That is the source language of a string catalog, or `Base` and
  /// then `en` of `.lproj` folders.
  ///
  /// `%@` and `%1$@` are replaced by arguments as in Foundation's `String(format:)`, and `%%` is a
  /// percent sign. The arguments of a push are texts, so a placeholder of a number, such as `%d`,
  /// is replaced by its argument unchanged. A placeholder without an argument becomes empty.
  /// Arguments without a placeholder are not shown.
  ///
  /// - Returns: `nil` when no language has the key.
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
