/// A fast hash of bytes. The seed is drawn for each index, so that nobody can choose values that
/// meet.
struct ByteHash: Sendable {
  private let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed
  }

  @inline(__always)
  func hash(_ bytes: UnsafeRawBufferPointer, path: UInt32) -> UInt64 {
    var state = Self.mix(seed ^ UInt64(path), UInt64(bytes.count) ^ 0x9E37_79B9_7F4A_7C15)
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
