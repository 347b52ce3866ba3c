import Foundation

extension Filter.Options {
  /// `text` as a filter with these options compares it: without options unchanged, else with case,
  /// diacritics or both folded away, and in that case composed and decomposed letters made the same.
  /// Two texts that a filter takes for equal fold to the same bytes.
  ///
  /// The result is stream-safe (``Swift/String/isStreamSafe``), so a set may hash it.
  ///
  /// - Complexity: linear in the text's length.
  public func fold(_ text: String) -> String {
    guard !isEmpty else { return text }
    return fold(text, pieceSize: Self.pieceSize)
  }

  /// Bytes of a text that Foundation folds at once. It moves the rest of a text for each letter whose
  /// length changes, so a whole text would take the square of its length.
  private static let pieceSize = 1_024

  /// - Parameter pieceSize: the bytes after which a text is cut where the cut changes nothing; after
  ///   twice as many it is cut anywhere.
  func fold(_ text: String, pieceSize: Int) -> String {
    // What Foundation makes of ASCII as well, in much more time.
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
  /// Whether the character never joins with what stands before it: it is no mark, no vowel or final of
  /// a Hangul syllable, and no vowel of Kirat Rai.
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
