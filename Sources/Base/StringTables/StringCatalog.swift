import Foundation

/// A string catalog (`.xcstrings`): the texts of all languages in one JSON file.
///
/// <https://developer.apple.com/documentation/xcode/localizing-and-varying-text-with-a-string-catalog>
struct StringCatalog {
  let sourceLanguage: String
  /// By language and key.
  private(set) var tables: [String: [String: String]] = [:]

  /// - Parameter path: Where the file is, for errors.
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
      // A key without a text in the source language is that text.
      tables[sourceLanguage]?[key] = key
      for (language, localization) in entry.localizations ?? [:] {
        guard language == sourceLanguage || entry.shouldTranslate != false else { continue }
        if let text = localization.text { tables[language, default: [:]][key] = text }
      }
    }
  }

  private struct File: Decodable {
    var sourceLanguage: String
    var strings: [String: Entry]
  }

  private struct Entry: Decodable {
    var shouldTranslate: Bool?
    var localizations: [String: Localization]?
  }

  private struct Localization: Decodable {
    struct Unit: Decodable {
      var state: String?
      var value: String
    }

    var stringUnit: Unit?
    /// By what varies, `plural` or `device`, and its cases.
    var variations: [String: [String: Localization]]?
    /// Texts that vary by several numbers, which a push does not have.
    var substitutions: [String: Ignored]?

    /// The text, of those that vary that for all `other` cases; nil for one that is still to be translated, and for one
    /// with substitutions.
    var text: String? {
      if let substitutions, !substitutions.isEmpty { return nil }
      if let stringUnit {
        return stringUnit.value.isEmpty && stringUnit.state == "new" ? nil : stringUnit.value
      }
      return ["plural", "device"].lazy.compactMap { variations?[$0]?["other"]?.text }.first
    }
  }

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
