/// The hash function FNV-1a with 64 bits (Fowler, Noll and Vo), for checksums and file names.
///
/// Equal bytes have the same hash in each process, which Swift's `Hasher` does not guarantee. The
/// hash detects accidental damage, but an attacker can find different bytes with the same hash.
struct StableHash {
  /// The hash of the bytes so far. Before the first byte, it is the offset basis of FNV-1a.
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  /// Adds bytes to the hash.
  mutating func combine(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }

  /// The hash as sixteen hexadecimal digits.
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
