/// FNV-1a with 64 bits (Fowler, Noll and Vo): the same number in each process, for checksums and
/// file names. It protects from accidents, not from intent.
struct StableHash {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func combine(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }

  /// Sixteen hexadecimal digits.
  var text: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  static func text(of bytes: some Sequence<UInt8>) -> String {
    var hash = StableHash()
    hash.combine(bytes)
    return hash.text
  }
}
