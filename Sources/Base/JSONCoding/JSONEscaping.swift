/// The bytes of a string that JSON must escape (RFC 8259 section 7): quotes, backslashes and
/// control characters.
enum JSONEscaping {
  /// Returns the number of bytes before the first one that needs an escape. It checks eight bytes
  /// at a time.
  static func plainPrefix(of text: UnsafeRawBufferPointer) -> Int {
    var place = 0
    while text.count - place >= 8 {
      if hasEscape(text.loadUnaligned(fromByteOffset: place, as: UInt64.self)) { break }
      place += 8
    }
    while place < text.count, !needsEscape(text[place]) { place += 1 }
    return place
  }

  /// Returns the character of a hexadecimal digit, 0 to 15.
  static func hexadecimal(_ digit: UInt8) -> UInt8 {
    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
  }

  /// Whether a byte needs an escape.
  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  /// Whether one of eight bytes needs an escape. A byte that is less than the subtracted value
  /// borrows, which sets its highest bit, unless the bit was set before.
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
