/// Intervals of ordered keys as a few stretches of a length 2^level that begin at multiples of it, so
/// that the intervals around a value are found by looking up the value's stretch on each level.
enum Stretches {
  /// The finest level on which at most three stretches hold the interval.
  static func cover(_ low: UInt64, _ high: UInt64) -> (level: UInt8, stretches: ClosedRange<UInt64>)
  {
    let bits = UInt64.bitWidth - (high - low).leadingZeroBitCount
    let level = UInt8(max(0, bits - 1))
    return (level, stretch(of: low, level: level)...stretch(of: high, level: level))
  }

  /// The keys that some stretches hold.
  static func keys(
    in cover: (level: UInt8, stretches: ClosedRange<UInt64>)
  ) -> ClosedRange<UInt64> {
    let level = UInt64(cover.level)
    let last = cover.stretches.upperBound << level | (1 << level - 1)
    return cover.stretches.lowerBound << level...last
  }

  @inline(__always)
  static func stretch(of key: UInt64, level: UInt8) -> UInt64 { key >> UInt64(level) }
}

/// The stretches of a path from the first to the last under which something was ever filed: nobody
/// needs to look up others.
struct Reach: BitwiseCopyable, Sendable {
  static let nothing = Reach(first: .max, last: 0)

  private var first: UInt64
  private var last: UInt64

  @inline(__always)
  func contains(_ stretch: UInt64) -> Bool { first <= stretch && stretch <= last }

  mutating func include(_ stretches: ClosedRange<UInt64>) {
    first = min(first, stretches.lowerBound)
    last = max(last, stretches.upperBound)
  }
}
