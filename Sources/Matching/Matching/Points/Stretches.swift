/// The cover of intervals of ordered keys (``OrderedKey``) by *stretches*: aligned ranges of
/// 2^level keys. Stretch *n* of a level begins at the key *n* * 2^level.
///
/// An entry with an interval is filed under the few stretches that cover the interval. To find the
/// intervals that contain a value, matching looks up one stretch for each level in use: the stretch
/// that contains the value.
enum Stretches {
  /// Returns a level on which at most three stretches cover the interval, and these stretches. A
  /// stretch of this level has no more keys than the interval.
  ///
  /// - Precondition: `low` is at most `high`. Both keys are included in the interval.
  /// - Complexity: O(1)
  static func cover(_ low: UInt64, _ high: UInt64) -> (level: UInt8, stretches: ClosedRange<UInt64>)
  {
    let bits = UInt64.bitWidth - (high - low).leadingZeroBitCount
    let level = UInt8(max(0, bits - 1))
    return (level, stretch(of: low, level: level)...stretch(of: high, level: level))
  }

  /// Returns the range of the keys in the stretches of a cover. It contains the interval.
  static func keys(
    in cover: (level: UInt8, stretches: ClosedRange<UInt64>)
  ) -> ClosedRange<UInt64> {
    let level = UInt64(cover.level)
    let last = cover.stretches.upperBound << level | (1 << level - 1)
    return cover.stretches.lowerBound << level...last
  }

  /// Returns the number of the stretch of a level that contains a key.
  @inline(__always)
  static func stretch(of key: UInt64, level: UInt8) -> UInt64 { key >> UInt64(level) }
}

/// The range from the least to the greatest stretch of a path under which an entry was filed.
/// Matching does not look up stretches outside this range.
///
/// The range only grows. It becomes ``nothing`` when the path has no points left.
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
