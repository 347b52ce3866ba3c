/// A fast hash of bytes. The seed is drawn for each index, so that nobody can choose values that
/// meet.
struct ByteHash: Sendable {
  private let seed: UInt64
  /// A second one: with a constant in its place, one half of the bytes could be chosen so that the
  /// other does not count.
  private let secret: UInt64

  init(seed: UInt64) {
    self.seed = seed
    secret = Self.mix(seed ^ 0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03)
  }

  /// The hash of a number and of sixteen bytes or fewer, the missing ones 0.
  @inline(__always)
  func hash(low: UInt64, high: UInt64, number: UInt64) -> UInt64 {
    Self.mix(Self.mix(seed ^ low, secret ^ high) ^ number, 0xE703_7ED1_A0B4_28DB)
  }

  /// The hash of a number and of bytes.
  func hash(_ bytes: UnsafeRawBufferPointer, number: UInt64) -> UInt64 {
    var state = Self.mix(seed ^ number, secret ^ UInt64(bytes.count))
    var place = 0
    while bytes.count - place >= 8 {
      state = Self.mix(
        state ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self), 0xA076_1D64_78BD_642F)
      place += 8
    }
    var rest: UInt64 = 0
    while place < bytes.count {
      rest = rest << 8 | UInt64(bytes[place])
      place += 1
    }
    return Self.mix(state ^ rest, 0xE703_7ED1_A0B4_28DB)
  }

  /// The two halves of the product, one upon the other: each bit of the arguments has its share in
  /// each of the result.
  @inline(__always)
  private static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }
}
