/// An escape in a JSON string: `\n`, `\u0041`, or a surrogate pair such as `\ud83d\ude00`. A pair
/// stands for one character beyond U+FFFF.
struct JSONEscape {
  let scalar: Unicode.Scalar
  /// The length of the escape in bytes: 2, 6 or 12.
  let length: Int

  /// Reads the escape at the beginning of `bytes`; `nil` if there is no valid escape. A surrogate
  /// without its pair is not valid.
  init?(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
    let start = bytes.startIndex
    guard bytes.count >= 2, bytes[start] == UInt8(ascii: "\\") else { return nil }
    if bytes[start + 1] != UInt8(ascii: "u") {
      guard let scalar = Self.scalar(after: bytes[start + 1]) else { return nil }
      self.scalar = scalar
      length = 2
      return
    }
    guard let unit = Self.unit(bytes) else { return nil }
    if let scalar = Unicode.Scalar(unit) {
      self.scalar = scalar
      length = 6
      return
    }
    guard UTF16.isLeadSurrogate(unit), let trail = Self.unit(bytes.dropFirst(6)),
      UTF16.isTrailSurrogate(trail),
      let scalar = Unicode.Scalar(
        0x1_0000 + (UInt32(unit) & 0x3FF) << 10 + UInt32(trail) & 0x3FF)
    else { return nil }
    self.scalar = scalar
    length = 12
  }

  /// Returns the character of a short escape, from the byte after the backslash.
  private static func scalar(after byte: UInt8) -> Unicode.Scalar? {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): Unicode.Scalar(byte)
    case UInt8(ascii: "b"): "\u{8}"
    case UInt8(ascii: "f"): "\u{C}"
    case UInt8(ascii: "n"): "\n"
    case UInt8(ascii: "r"): "\r"
    case UInt8(ascii: "t"): "\t"
    default: nil
    }
  }

  /// Returns the UTF-16 code unit of an escape such as `\u0041` at the beginning of `bytes`.
  private static func unit(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> UInt16? {
    let start = bytes.startIndex
    guard bytes.count >= 6, bytes[start] == UInt8(ascii: "\\"),
      bytes[start + 1] == UInt8(ascii: "u")
    else { return nil }
    var unit: UInt16 = 0
    for byte in bytes[(start + 2)..<(start + 6)] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
        return nil
      }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }

  static func unescaped(_ raw: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(raw.count)
    var position = 0
    while position < raw.count {
      if raw[position] == UInt8(ascii: "\\"), let escape = JSONEscape(raw[position...]) {
        text.append(contentsOf: UTF8.encode(escape.scalar) ?? .init())
        position += escape.length
      } else {
        text.append(raw[position])
        position += 1
      }
    }
    return text
  }
}
