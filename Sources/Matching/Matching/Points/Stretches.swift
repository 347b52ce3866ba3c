/// The cover of intervals of ordered keys by *stretches*: aligned ranges of 2^level keys.
///
/// An interval is filed under the few stretches that cover it. To find the intervals that contain a
/// value, matching looks up one stretch for each level in use: the stretch that contains the value.
enum Stretches {
  /// Returns the finest level on which at most three stretches cover the interval, and these
  /// stretches.
  ///
  /// - Precondition: `low` is at most `high`.
  /// - Complexity: O(1)
  static func cover(_ low: UInt64, _ high: UInt64) -> (level: UInt8, stretches: ClosedRange<UInt64>)
  {
    let bits = UInt64.bitWidth - (high - low).leadingZeroBitCount
    let level = UInt8(max(0, bits - 1))
    return (level, stretch(of: low, level: level)...stretch(of: high, level: level))
  }

  /// Returns the keys that the stretches of a cover hold. They contain the interval.
  static func keys(
    in cover: (level: UInt8, stretches: ClosedRange<UInt64>)
  ) -> ClosedRange<UInt64> {
    let level = UInt64(cover.level)
    let last = cover.stretches.upperBound << level | (1 << level - 1)
    return cover.stretches.lowerBound << level...last
  }

  /// Returns the stretch of a level that holds a key.
  @inline(__always)
  static func stretch(of key: UInt64, level: UInt8) -> UInt64 { key >> UInt64(level) }
}

/// The range of the stretches of a path under which entries were filed. A value outside needs no
/// look-up.
///
/// The range only grows, until the path has no points any more.
struct Reach: BitwiseCopyable, Sendable {
  /// The range that contains no stretch.
  static let nothing = Reach(first: .max, last: 0)

  /// The least stretch of the range.
  private var first: UInt64
  /// The greatest stretch of the range.
  private var last: UInt64

  /// Whether an entry may be filed under a stretch.
  @inline(__always)
  func contains(_ stretch: UInt64) -> Bool { first <= stretch && stretch <= last }

  /// Extends the range so that it contains the stretches.
  mutating func include(_ stretches: ClosedRange<UInt64>) {
    first = min(first, stretches.lowerBound)
    last = max(last, stretches.upperBound)
  }
}
