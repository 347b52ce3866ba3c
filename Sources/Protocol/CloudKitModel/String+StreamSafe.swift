import Foundation

extension String {
  /// The longest run of combining marks in a stream-safe text (UAX #15, definition D4).
  static let longestMarkRun = 30

  /// Whether no run of combining marks is longer than 30 (Stream-Safe Text Format, UAX #15, section
  /// 13).
  ///
  /// Normalization sorts the marks of a run. The time of this sort grows with the square of the
  /// run's length. Swift's `==`, `<` and `hash(into:)` normalize texts, and so does folding. Check
  /// each text from a client before such an operation.
  ///
  /// - Complexity: Linear in the text's length. A text without marks needs one comparison for each
  ///   byte.
  public var isStreamSafe: Bool {
    guard mayHaveMarks else { return true }
    var run = 0
    for scalar in unicodeScalars {
      run = scalar.isCombiningMark ? run + 1 : 0
      if run > Self.longestMarkRun { return false }
    }
    return true
  }

  /// The text in Stream-Safe Text Format. A text that is already stream-safe is returned unchanged.
  ///
  /// U+034F COMBINING GRAPHEME JOINER is inserted after each 30 marks of a longer run, as in the
  /// Stream-Safe Text Process of UAX #15.
  ///
  /// - Complexity: Linear in the text's length.
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

  /// The text with composed letters (Unicode normal form C): `é` as one character and not as `e` and
  /// an accent. Names of records and zones have this form, so that names which `==` takes for equal
  /// have equal bytes in the store, too.
  ///
  /// - Precondition: The text is stream-safe. For another text the time grows with the square of a
  ///   run of combining marks.
  /// - Complexity: Linear in the text's length.
  public var composed: String {
    // Each character that the form changes is U+0300 or a later one.
    mayHaveMarks ? precomposedStringWithCanonicalMapping : self
  }

  /// Whether the text has a byte of 0xCC or more. U+0300, the first combining mark, and all later
  /// characters begin with such a byte. Other texts have no combining marks.
  private var mayHaveMarks: Bool {
    // The loop has no early exit, so the compiler can compare many bytes at a time.
    let greatest = utf8.withContiguousStorageIfAvailable { $0.reduce(0) { max($0, $1) } }
    return (greatest ?? 0xFF) >= 0xCC
  }
}

extension Unicode.Scalar {
  /// Whether normalization may move the scalar past its neighbours. Such a scalar has a combining
  /// class other than 0, or decomposes into scalars with such a class.
  fileprivate var isCombiningMark: Bool {
    switch value {
    case 0x0F73, 0x0F75, 0x0F81: true
    default: properties.canonicalCombiningClass != .notReordered
    }
  }
}
