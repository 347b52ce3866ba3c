import Foundation

/// The words of a text as full-text search sees them.
///
/// A token is a run of letters and digits with their marks, folded so that case and diacritics do
/// not count. Scripts that write no spaces between words give one token for the whole run.
/// CloudKit's stop words are left out (`CKQuery`, "Predicate rules").
public struct TextTokens: Sendable, Hashable {
  public let tokens: Set<String>

  public init(_ text: String) {
    var found: Set<String> = []
    for word in Self.fold(text).unicodeScalars.split(whereSeparator: { !Self.isWordScalar($0) }) {
      // Marks on something that is no letter, such as the variation selectors of emoji.
      if word.allSatisfy(Self.isMark) { continue }
      let token = String(String.UnicodeScalarView(word))
      if !Self.stopWords.contains(token) { found.insert(token) }
    }
    tokens = found
  }

  /// The tokens of a string or of all strings of a list; none for other values.
  public static func of(_ value: RecordValue) -> Set<String> {
    switch value {
    case .string(let text):
      return TextTokens(text).tokens
    case .list(.string, let values):
      return values.reduce(into: []) { $0.formUnion(of($1)) }
    default:
      return []
    }
  }

  /// The words that search ignores.
  public static let stopWords: Set<String> = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
  ]

  private static func fold(_ text: String) -> String {
    // Folding costs far more than looking; most text is plain lower-case ASCII.
    let isPlain = text.utf8.allSatisfy { $0 < 0x80 && !($0 >= 0x41 && $0 <= 0x5A) }
    if isPlain { return text }
    return Filter.Options([.caseInsensitive, .diacriticInsensitive]).fold(text)
  }

  private static func isWordScalar(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x80 {
      switch scalar {
      case "a"..."z", "0"..."9", "A"..."Z": return true
      default: return false
      }
    }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber:
      return true
    default:
      return isMark(scalar)
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x80 { return false }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return true
    default: return false
    }
  }
}
