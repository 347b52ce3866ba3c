import Foundation

/// The words of a text as full-text search sees them.
///
/// A token is a run of letters and digits with their marks, without differences of case and
/// diacritics. A script without spaces between words gives one token for the whole run. CloudKit's
/// stop words, frequent words such as "the", are left out (`CKQuery`, "Predicate rules").
///
///     TextTokens("The Café, and 2 more").tokens == ["cafe", "2", "more"]
public struct TextTokens: Sendable, Hashable {
  /// The different tokens of the text.
  public let tokens: Set<String>

  /// Splits a text into its tokens.
  public init(_ text: String) {
    var found: Set<String> = []
    let isPlain = Self.visitPlainWords(of: text) { word in
      found.insert(String(decoding: word, as: UTF8.self))
      return true
    }
    tokens = isPlain ? found : Self.words(of: text)
  }

  /// `visitPlainWords` is the fast path for ASCII.
  static func words(of text: String) -> Set<String> {
    var found: Set<String> = []
    for word in fold(text).unicodeScalars.split(whereSeparator: { !isWordScalar($0) }) {
      // A run of marks alone, such as the variation selector of an emoji, belongs to no letter and
      // is no word.
      if word.allSatisfy(isMark) { continue }
      let token = String(String.UnicodeScalarView(word))
      if !stopWords.contains(token) { found.insert(token) }
    }
    return found
  }

  /// Returns the tokens of a string or of all strings of a list; an empty set for other values.
  public static func of(_ value: RecordValue) -> Set<String> {
    switch value {
    case .string(let text):
      return TextTokens(text).tokens
    case .list(.string, let values):
      return values.reduce(into: []) { $0.formUnion(of($1)) }
    case .int64, .double, .timestamp, .preciseTimestamp, .bytes, .location, .reference, .asset,
      .list:
      return []
    }
  }

  /// The words that searches ignore.
  public static let stopWords: Set<String> = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
  ]

  /// Calls `visit` with each word of an ASCII text, in order and in lower case. Stop words are left
  /// out; a repeated word is visited each time.
  ///
  /// The words are in a temporary buffer, so a word is valid only during its visit.
  ///
  /// - Returns: false when the text is not plain ASCII and no word was visited, or when `visit`
  ///   returned false, which ends the visits. Otherwise true.
  public static func visitPlainWords(
    of text: String, _ visit: (UnsafeBufferPointer<UInt8>) -> Bool
  ) -> Bool {
    var text = text
    return text.withUTF8 { visitPlainWords(of: UnsafeRawBufferPointer($0), visit) }
  }

  /// Visits the words in the UTF-8 bytes of a text, in the same way as the overload for a string.
  public static func visitPlainWords(
    of bytes: UnsafeRawBufferPointer, _ visit: (UnsafeBufferPointer<UInt8>) -> Bool
  ) -> Bool {
    guard bytes.allSatisfy({ $0 < 0x80 }) else { return false }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count) { folded in
      var start = 0
      for position in 0...bytes.count {
        if position < bytes.count, let byte = foldedWordByte(bytes[position]) {
          folded.initializeElement(at: position, to: byte)
          continue
        }
        defer { start = position + 1 }
        guard position > start else { continue }
        let word = UnsafeBufferPointer(rebasing: folded[start..<position])
        if !isStopWord(word), !visit(word) { return false }
      }
      return true
    }
  }

  private static func foldedWordByte(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
    default: nil
    }
  }

  private static func isStopWord(_ word: UnsafeBufferPointer<UInt8>) -> Bool {
    word.count <= longestStopWord && packedStopWords.contains(pack(word))
  }

  /// The number of bytes of the longest stop word. It must be at most 8, because a word is packed
  /// into 64 bits.
  private static let longestStopWord = 5

  private static let packedStopWords = Set(stopWords.map { pack($0.utf8) })

  /// Returns the bytes of a word as one number, the first byte the most significant.
  private static func pack(_ word: some Sequence<UInt8>) -> UInt64 {
    word.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Folds case and diacritics as a filter with both options does.
  private static func fold(_ text: String) -> String {
    Filter.Options([.caseInsensitive, .diacriticInsensitive]).fold(text)
  }

  /// Returns whether the scalar is a part of a word: a letter, a digit or a mark.
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

  /// Returns whether the scalar is a combining mark. No ASCII character is one.
  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x80 { return false }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return true
    default: return false
    }
  }
}
