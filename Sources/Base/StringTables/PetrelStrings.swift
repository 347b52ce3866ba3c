import Foundation

/// An app's strings in all its languages, and the languages that a reader prefers. Petrel's own.
///
/// A subscription may name a string instead of giving a text (`alertLocalizationKey`). Apple's systems look the string up in
/// the app's bundle. Where no bundle is, a program gives the same files to this type:
///
/// ```swift
/// let strings = try PetrelStrings(contentsOf: URL(fileURLWithPath: "Strings"))
/// strings.text(forKey: "EARTHQUAKE_%1$@_%2$@", arguments: ["6.4", "24 km from Suva"])
/// ```
///
/// docs/localization.md has the rules of the files, of the choice of a language and of placeholders.
public struct PetrelStrings: Sendable, Hashable {
  /// The languages that a reader wants, the most wanted first, as BCP 47 tags such as `de-AT`.
  public var languages: [String]

  /// By language tag in lower case and key.
  private let tables: [String: [String: String]]
  /// The languages that are tried last, in lower case.
  private let fallbacks: [String]

  /// - Parameters:
  ///   - tables: The texts by language and key.
  ///   - fallbacks: The languages to try after those that the reader wants.
  init(tables: [String: [String: String]], fallbacks: [String], languages: [String]) {
    self.languages = languages
    self.fallbacks = fallbacks.map(LanguageTag.canonical)
    self.tables = Dictionary(
      tables.map { (LanguageTag.canonical($0.key), $0.value) },
      uniquingKeysWith: { $0.merging($1) { first, _ in first } })
  }

  /// The text of a key in the first language that has it, with the arguments in the place of its placeholders.
  ///
  /// The languages are each of ``languages`` by the lookup of RFC 4647 (`de-AT`, then `de`), then the development language:
  /// the source language of a string catalog, or `Base` and then `en` of `.lproj` folders.
  ///
  /// `%@` and `%1$@` are replaced by arguments as by Foundation's `String(format:)`, and `%%` is a percent sign. Arguments of a
  /// push are texts, so a placeholder of a number, such as `%d`, is replaced by its argument as it stands. A placeholder
  /// without an argument becomes empty. Arguments without a placeholder are not shown.
  ///
  /// - Returns: nil when no language has the key.
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
