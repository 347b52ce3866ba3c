/// The search for the bytes of a string that JSON must escape (RFC 8259 section 7): quotes,
/// backslashes and control characters.
enum JSONEscaping {
  /// Returns the number of bytes before the first byte that needs an escape. The search checks
  /// eight bytes at a time.
  static func plainPrefix(of text: UnsafeRawBufferPointer) -> Int {
    var place = 0
    while text.count - place >= 8 {
      if hasEscape(text.loadUnaligned(fromByteOffset: place, as: UInt64.self)) { break }
      place += 8
    }
    while place < text.count, !needsEscape(text[place]) { place += 1 }
    return place
  }

  /// Returns the ASCII character in lower case. The digit is 0 to 15.
  static func hexadecimal(_ digit: UInt8) -> UInt8 {
    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  /// Whether one of the eight bytes in `word` needs an escape.
  ///
  /// Each comparison subtracts a value from all eight bytes at once. If a byte is less than the
  /// value, the subtraction sets the highest bit of the byte. `~` excludes bytes whose highest bit
  /// was set before. For quotes and backslashes, `^` turns the searched byte into 0, and the value
  /// is 1.
  private static func hasEscape(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
    let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
    let less =
      ((word &- ones &* 0x20) & ~word) | ((quotes &- ones) & ~quotes)
      | ((backslashes &- ones) & ~backslashes)
    return less & (ones &* 0x80) != 0
  }
}
