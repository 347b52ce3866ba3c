import Foundation

extension Filter.Options {
  /// Returns the text that a filter with these options compares in the place of `text`.
  ///
  /// Without options the text stays as it is. Otherwise differences of case, of diacritics or of
  /// both are removed, and composed and decomposed letters become the same. Two texts that a filter
  /// with these options treats as equal fold to the same bytes.
  ///
  /// With options the result is stream-safe (``Swift/String/isStreamSafe``), so a set can hash the
  /// result in linear time.
  ///
  /// - Complexity: Linear in the text's length.
  public func fold(_ text: String) -> String {
    guard !isEmpty else { return text }
    return fold(text, pieceSize: Self.pieceSize)
  }

  /// The number of bytes of a text that Foundation folds at once.
  ///
  /// When a folded letter has another length, Foundation moves all text after the letter. The time
  /// to fold a whole text at once would grow with the square of the text's length.
  private static let pieceSize = 1_024

  /// Folds `text` piece by piece.
  ///
  /// - Parameter pieceSize: The number of bytes after which a piece ends before the next scalar
  ///   that never combines with the scalar before. After twice as many bytes, a piece ends before
  ///   any scalar.
  func fold(_ text: String, pieceSize: Int) -> String {
    // A fast path for ASCII with the same result as Foundation's.
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      return contains(.caseInsensitive) ? text.lowercased() : text
    }
    guard text.utf8.count > pieceSize else { return foldPiece(text).streamSafe }
    var folded = ""
    folded.reserveCapacity(text.utf8.count)
    let scalars = text.unicodeScalars
    var start = scalars.startIndex
    var size = 0
    var index = start
    while index < scalars.endIndex {
      let scalar = scalars[index]
      if size >= 2 * pieceSize || size >= pieceSize && scalar.beginsAnew {
        folded += foldPiece(String(scalars[start..<index]))
        start = index
        size = 0
      }
      size += UTF8.width(scalar)
      index = scalars.index(after: index)
    }
    folded += foldPiece(String(scalars[start...]))
    return folded.streamSafe
  }

  /// Composes the text canonically (NFC), then folds it with Foundation. No locale is used.
  private func foldPiece(_ text: String) -> String {
    text.precomposedStringWithCanonicalMapping.folding(options: compareOptions, locale: nil)
  }

  private var compareOptions: String.CompareOptions {
    var options: String.CompareOptions = []
    if contains(.caseInsensitive) { options.insert(.caseInsensitive) }
    if contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
    return options
  }
}

extension Unicode.Scalar {
  /// Whether normalization never combines the scalar with the scalar before. False for the scalars
  /// that may combine: marks, format characters, vowels and finals of Hangul syllables, and vowels
  /// of Kirat Rai.
  fileprivate var beginsAnew: Bool {
    if value < 0x300 { return true }
    switch value {
    case 0x1160...0x11FF, 0xD7B0...0xD7FF, 0x16D40...0x16D7F: return false
    default: break
    }
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark, .format: return false
    default: return true
    }
  }
}
