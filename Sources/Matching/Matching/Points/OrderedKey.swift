/// Numbers, times and texts as unsigned integers that have the same order.
enum OrderedKey {
  /// Nil for a NaN, which has no order. Both zeros have one key.
  static func of(_ double: Double) -> UInt64? {
    if double.isNaN { return nil }
    let bits = double == 0 ? 0 : double.bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }

  static func of(milliseconds: Int64) -> UInt64 { UInt64(bitPattern: milliseconds) ^ 1 << 63 }

  /// That of a text's first eight bytes: texts that differ later have the same.
  static func of(_ text: String) -> UInt64 {
    var text = text
    return text.withUTF8 { of(UnsafeRawBufferPointer($0)) }
  }

  /// That of a text with these bytes.
  static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var key: UInt64 = 0
    for byte in bytes.prefix(8) { key = key << 8 | UInt64(byte) }
    return key << UInt64(8 * (8 - min(8, bytes.count)))
  }
}

/// Where a value stands among the keys of its kind.
///
/// Keys of numbers are those of doubles, of which there is none for most integers beyond 2^53: such an
/// integer stands between two neighbours.
struct OrderedValue: BitwiseCopyable, Sendable {
  /// The greatest key that is not above the value.
  var floor: UInt64
  /// The least key that is not below it.
  var ceiling: UInt64

  /// No value: between no bounds but those of all values, which is why those are asked for apart.
  static let missing = OrderedValue(floor: 0, ceiling: .max)
  /// What is between all bounds that one value can be between.
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

  /// Nil for a NaN.
  init?(_ double: Double) {
    guard let key = OrderedKey.of(double) else { return nil }
    self.init(exactly: key)
  }

  init(_ integer: Int64) {
    let nearest = Double(integer)
    // An integer's neighbours are finite, so that they have keys; 0 would be that of no number.
    let key = OrderedKey.of(nearest) ?? 0
    self.init(exactly: key)
    guard Int64(exactly: nearest) != integer else { return }
    // 2^63 is no `Int64`, and above all of them.
    let isAbove = Int64(exactly: nearest).map { $0 > integer } ?? true
    if isAbove { floor = key - 1 } else { ceiling = key + 1 }
  }
}
