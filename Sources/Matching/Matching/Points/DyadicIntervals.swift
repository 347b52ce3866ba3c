/// The cover of intervals of ordered keys (``OrderedKey``) by *dyadic intervals*: aligned ranges of
/// 2^level keys. Dyadic interval *n* of a level begins at the key *n* * 2^level.
///
/// An entry with an interval is filed under the few dyadic intervals that cover the interval. To find the
/// intervals that contain a value, matching looks up one dyadic interval for each level in use: the dyadic interval
/// that contains the value.
enum DyadicIntervals {
  /// Returns a level on which at most three dyadic intervals cover the interval, and these dyadic intervals. A
  /// dyadic interval of this level has no more keys than the interval.
  ///
  /// - Precondition: `low` is at most `high`. Both keys are included in the interval.
  /// - Complexity: O(1)
  static func cover(_ low: UInt64, _ high: UInt64) -> (
    level: UInt8, dyadicIntervals: ClosedRange<UInt64>
  ) {
    let bits = UInt64.bitWidth - (high - low).leadingZeroBitCount
    let level = UInt8(max(0, bits - 1))
    return (level, dyadicInterval(of: low, level: level)...dyadicInterval(of: high, level: level))
  }

  static func keys(
    in cover: (level: UInt8, dyadicIntervals: ClosedRange<UInt64>)
  ) -> ClosedRange<UInt64> {
    let level = UInt64(cover.level)
    let last = cover.dyadicIntervals.upperBound << level | (1 << level - 1)
    return cover.dyadicIntervals.lowerBound << level...last
  }

  /// Returns the number of the dyadic interval of a level that contains a key.
  @inline(__always)
  static func dyadicInterval(of key: UInt64, level: UInt8) -> UInt64 { key >> UInt64(level) }
}

/// The range from the least to the greatest dyadic interval of a path under which an entry was filed.
/// Matching does not look up dyadic intervals outside this range.
///
/// The range only grows. It becomes ``nothing`` when the path has no points left.
struct Reach: BitwiseCopyable, Sendable {
  /// The range that contains no dyadic interval.
  static let nothing = Reach(first: .max, last: 0)

  private var first: UInt64
  private var last: UInt64

  /// Whether an entry may be filed under a dyadic interval.
  @inline(__always)
  func contains(_ dyadicInterval: UInt64) -> Bool {
    first <= dyadicInterval && dyadicInterval <= last
  }

  mutating func include(_ dyadicIntervals: ClosedRange<UInt64>) {
    first = min(first, dyadicIntervals.lowerBound)
    last = max(last, dyadicIntervals.upperBound)
  }
}
