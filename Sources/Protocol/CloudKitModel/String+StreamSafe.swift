extension String {
  /// The longest run of combining marks that a stream-safe text has (UAX #15, definition D4).
  static let longestMarkRun = 30

  /// Whether no run of combining marks is longer than 30 (Stream-Safe Text Format, UAX #15, section 13).
  ///
  /// Normalization sorts the marks of a run, and so takes the square of the run's length. Swift's `==`,
  /// `<` and `hash(into:)` normalize, as folding does. A text from outside must be stream-safe before one
  /// of these sees it.
  ///
  /// - Complexity: linear in the text's length; a comparison a byte for texts without marks.
  public var isStreamSafe: Bool {
    guard mayHaveMarks else { return true }
    var run = 0
    for scalar in unicodeScalars {
      run = scalar.isCombiningMark ? run + 1 : 0
      if run > Self.longestMarkRun { return false }
    }
    return true
  }

  /// The text with U+034F COMBINING GRAPHEME JOINER after each 30 marks of a longer run, as UAX #15's
  /// Stream-Safe Text Process has it; the text itself when it is stream-safe.
  ///
  /// - Complexity: linear in the text's length.
  public var streamSafe: String {
    guard !isStreamSafe else { return self }
    var safe = String.UnicodeScalarView()
    var run = 0
    for scalar in unicodeScalars {
      run = scalar.isCombiningMark ? run + 1 : 0
      if run > Self.longestMarkRun {
        safe.append("\u{34F}")
        run = 1
      }
      safe.append(scalar)
    }
    return String(safe)
  }

  /// False for a text without a byte of U+0300 or beyond.
  private var mayHaveMarks: Bool {
    // Without an end before the last byte it is many bytes at a time.
    let greatest = utf8.withContiguousStorageIfAvailable { $0.reduce(0) { max($0, $1) } }
    return (greatest ?? 0xFF) >= 0xCC
  }
}

extension Unicode.Scalar {
  /// Whether normalization may move the character past its neighbours: its combining class is not 0,
  /// or it decomposes into such characters.
  fileprivate var isCombiningMark: Bool {
    switch value {
    case 0x0F73, 0x0F75, 0x0F81: true
    default: properties.canonicalCombiningClass != .notReordered
    }
  }
}
