/// The mapping of numbers, times and texts to unsigned integers (*keys*) that have the same order.
enum OrderedKey {
  /// Returns the key of a double; `nil` for a NaN, which has no order. Both zeros have one key.
  ///
  /// The key of a negative number is its inverted bit pattern. The key of any other number is its
  /// bit pattern with the highest bit set.
  static func of(_ double: Double) -> UInt64? {
    if double.isNaN { return nil }
    let bits = double == 0 ? 0 : double.bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }

  /// Returns the key of a time in milliseconds since 1970.
  static func of(milliseconds: Int64) -> UInt64 { UInt64(bitPattern: milliseconds) ^ 1 << 63 }

  /// Returns the key of a text: its first eight UTF-8 bytes as a big-endian number. Zeros fill up a
  /// shorter text. Texts that differ only after these bytes have the same key.
  static func of(_ text: String) -> UInt64 {
    var text = text
    return text.withUTF8 { of(UnsafeRawBufferPointer($0)) }
  }

  /// Returns the key of a text with these UTF-8 bytes.
  static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var key: UInt64 = 0
    for byte in bytes.prefix(8) { key = key << 8 | UInt64(byte) }
    return key << UInt64(8 * (8 - min(8, bytes.count)))
  }
}

/// The position of a value among the keys of its kind.
///
/// The keys of numbers are those of doubles. Most integers above 2^53 or below -2^53 equal no
/// double. The position of such an integer is between two adjacent keys.
struct OrderedValue: BitwiseCopyable, Sendable {
  /// The greatest key that is not above the value.
  var floor: UInt64
  /// The least key that is not below the value.
  var ceiling: UInt64

  /// The position that stands for "no value".
  ///
  /// It is only between the bounds 0 and `UInt64.max`, which contain all values. Code that may
  /// compare with these two bounds must check ``isMissing`` first.
  static let missing = OrderedValue(floor: 0, ceiling: .max)
  /// The position that ``isWithin(_:_:)`` accepts for all bounds, because its floor is above its
  /// ceiling. No value has this position. Matching uses it for a ``Candidate`` without a condition.
  static let always = OrderedValue(floor: .max, ceiling: 0)

  var isMissing: Bool { floor == 0 && ceiling == .max }

  /// Whether the value is between the bounds, both included.
  @inline(__always)
  func isWithin(_ low: UInt64, _ high: UInt64) -> Bool { low <= floor && ceiling <= high }

  private init(floor: UInt64, ceiling: UInt64) {
    self.floor = floor
    self.ceiling = ceiling
  }

  init(exactly key: UInt64) {
    floor = key
    ceiling = key
  }

  /// Creates the position of a double; `nil` for a NaN.
  init?(_ double: Double) {
    guard let key = OrderedKey.of(double) else { return nil }
    self.init(exactly: key)
  }

  init(_ integer: Int64) {
    let nearest = Double(integer)
    // The nearest double is never a NaN, so it has a key and the fallback is never used.
    let key = OrderedKey.of(nearest) ?? 0
    self.init(exactly: key)
    guard Int64(exactly: nearest) != integer else { return }
    // If the nearest double is 2^63, it is no `Int64`. It is above all integers.
    let isAbove = Int64(exactly: nearest).map { $0 > integer } ?? true
    if isAbove { floor = key - 1 } else { ceiling = key + 1 }
  }
}
