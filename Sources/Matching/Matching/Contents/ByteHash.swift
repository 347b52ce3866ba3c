/// A fast hash of bytes with a random seed.
///
/// Each ``SubscriptionIndex`` draws a random seed of its own. A client therefore cannot choose
/// values whose hashes collide.
struct ByteHash: Sendable {
  private let seed: UInt64
  /// A second seed, derived from the first. With a constant in its place, a client could choose one
  /// half of the bytes so that the other half has no effect.
  private let secret: UInt64

  init(seed: UInt64) {
    self.seed = seed
    secret = Self.mix(seed ^ 0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03)
  }

  /// Returns the hash of a number and of at most sixteen bytes. `low` has the first eight bytes,
  /// `high` the next eight; missing bytes are 0.
  ///
  /// - Complexity: O(1)
  @inline(__always)
  func hash(low: UInt64, high: UInt64, number: UInt64) -> UInt64 {
    Self.mix(Self.mix(seed ^ low, secret ^ high) ^ number, 0xE703_7ED1_A0B4_28DB)
  }

  /// Returns the hash of a number and of any count of bytes.
  ///
  /// - Complexity: O(*n*), where *n* is the count of the bytes.
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

  /// Returns the exclusive or of the two halves of the product. Each bit of the arguments can
  /// affect each bit of the result.
  @inline(__always)
  private static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }
}
