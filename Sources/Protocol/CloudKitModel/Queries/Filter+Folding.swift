import Foundation

extension Filter.Options {
  /// Returns `text` as a filter with these options compares it.
  ///
  /// Without options the text stays as it is. Otherwise case, diacritics or both are folded away,
  /// and composed and decomposed letters become the same. Two texts that a filter with these
  /// options treats as equal fold to the same bytes.
  ///
  /// With options the result is stream-safe (``Swift/String/isStreamSafe``), so a set may hash it.
  ///
  /// - Complexity: Linear in the text's length.
  public func fold(_ text: String) -> String {
    guard !isEmpty else { return text }
    return fold(text, pieceSize: Self.pieceSize)
  }

  /// The number of bytes of a text that Foundation folds at once.
  ///
  /// Foundation moves the rest of a text for each letter whose length changes. The time for a whole
  /// text would grow with the square of its length.
  private static let pieceSize = 1_024

  /// Folds `text` piece by piece.
  ///
  /// - Parameter pieceSize: The number of bytes after which the text is cut at the next scalar that
  ///   never joins the one before. After twice as many bytes the text is cut anywhere.
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

  /// The options as Foundation names them.
  private var compareOptions: String.CompareOptions {
    var options: String.CompareOptions = []
    if contains(.caseInsensitive) { options.insert(.caseInsensitive) }
    if contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
    return options
  }
}

extension Unicode.Scalar {
  /// Whether the scalar never joins with the one before it in normalization. Marks, vowels and
  /// finals of Hangul syllables, and vowels of Kirat Rai may join.
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
