/// Base64 with the alphabet that is safe in URLs and without padding (RFC 4648 section 5), as JSON
/// web tokens use it.
public enum Base64URL {
  /// Returns the text for `bytes`.
  ///
  /// ```swift
  /// Base64URL.encode([0xFB, 0xFF])  // "-_8"
  /// ```
  public static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.underestimatedCount * 4 / 3 + 4)
    var accumulator: UInt32 = 0
    var bits: UInt32 = 0
    // An array, because the loop over a sequence of a type known only to the caller is slow.
    for byte in Array(bytes) {
      accumulator = accumulator << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(alphabet[Int(accumulator >> bits & 0x3F)])
      }
    }
    if bits > 0 { text.append(alphabet[Int(accumulator << (6 - bits) & 0x3F)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the bytes of `text`; `nil` if a character is not in the alphabet, the length is
  /// impossible, or the bits after the last byte are not all 0.
  ///
  /// Padding is refused too. So exactly one text decodes to the same bytes.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count * 3 / 4)
    var accumulator: UInt32 = 0
    var bits: UInt32 = 0
    for character in text.utf8 {
      guard let value = value(of: character) else { return nil }
      accumulator = accumulator << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: accumulator >> bits))
      }
    }
    let strayBits = accumulator & (1 << bits - 1)
    guard bits < 6, strayBits == 0 else { return nil }
    return bytes
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
