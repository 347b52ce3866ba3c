import Foundation

/// A string catalog (`.xcstrings`): one JSON file with the texts of all languages.
///
/// <https://developer.apple.com/documentation/xcode/localizing-and-varying-text-with-a-string-catalog>
struct StringCatalog {
  let sourceLanguage: String
  /// The texts. The first key is the language, the second the key of the text.
  private(set) var tables: [String: [String: String]] = [:]

  init(_ data: Data, path: String) throws(PetrelStringsError) {
    let file: File
    do {
      file = try JSONDecoder().decode(File.self, from: data)
    } catch {
      throw PetrelStringsError(path: path, line: nil, rule: Self.rule(brokenBy: error))
    }
    sourceLanguage = file.sourceLanguage
    tables[sourceLanguage] = [:]
    for (key, entry) in file.strings {
      // A key without a text in the source language is its own text.
      tables[sourceLanguage]?[key] = key
      for (language, localization) in entry.localizations ?? [:] {
        guard language == sourceLanguage || entry.shouldTranslate != false else { continue }
        if let text = localization.text { tables[language, default: [:]][key] = text }
      }
    }
  }

  /// The whole file.
  private struct File: Decodable {
    var sourceLanguage: String
    var strings: [String: Entry]
  }

  /// One key of the catalog.
  private struct Entry: Decodable {
    /// Whether languages other than the source language may have a text; `nil` means that they may.
    var shouldTranslate: Bool?
    var localizations: [String: Localization]?
  }

  /// The text of one key in one language, or its variations.
  private struct Localization: Decodable {
    /// A text with the state of its translation.
    struct Unit: Decodable {
      var state: String?
      var value: String
    }

    var stringUnit: Unit?
    /// The variations. The first key is the criterion (`plural` or `device`), the second the case,
    /// such as `one` or `other`.
    var variations: [String: [String: Localization]]?
    /// The parts of a text that vary by several numbers. A push has no numbers, so these parts are
    /// not read.
    var substitutions: [String: Ignored]?

    /// The text. If the text has variations, the case `other` is used. `nil` for a text that is not
    /// translated yet, and for a text with substitutions.
    var text: String? {
      if let substitutions, !substitutions.isEmpty { return nil }
      if let stringUnit {
        return stringUnit.value.isEmpty && stringUnit.state == "new" ? nil : stringUnit.value
      }
      return ["plural", "device"].lazy.compactMap { variations?[$0]?["other"]?.text }.first
    }
  }

  /// A value whose contents are ignored.
  private struct Ignored: Decodable {
    init(from decoder: any Decoder) {}
  }

  private static func rule(brokenBy error: any Error) -> String {
    guard let error = error as? DecodingError else { return "cannot be read: \(error)" }
    switch error {
    case .dataCorrupted(let context):
      return
        "is not valid JSON: \(context.underlyingError.map { "\($0)" } ?? context.debugDescription)"
    case .keyNotFound(let key, let context):
      return place(context.codingPath) + "'\(key.stringValue)' is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      return place(context.codingPath) + context.debugDescription
    @unknown default: return "\(error)"
    }
  }

  private static func place(_ path: [any CodingKey]) -> String {
    path.isEmpty ? "" : path.map(\.stringValue).joined(separator: ": ") + ": "
  }
}
