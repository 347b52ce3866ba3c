import CloudKitModel

/// A range of the keys of one field in the value index, with both ends. Keys are ordered by their
/// bytes (``ValueKey``).
struct KeyRange: Equatable {
  /// The least key of the range.
  var lower: [UInt8]
  /// The greatest key of the range.
  var upper: [UInt8]

  /// The range of all keys.
  static let everything = KeyRange(lower: [], upper: ValueKey.greatest)

  init(lower: [UInt8], upper: [UInt8]) {
    self.lower = lower
    self.upper = upper
  }

  /// Creates the range of one key.
  init(_ key: [UInt8]) {
    self.init(lower: key, upper: key)
  }

  /// The range of the eight-byte keys in this range, as numbers; nil if there are none.
  var numbers: ClosedRange<UInt64>? {
    var first = IndexKey(lower).head
    if lower.count > 8 {
      guard first < .max else { return nil }
      first += 1
    }
    var last = IndexKey(upper).head
    // An eight-byte key that begins with a shorter upper bound is greater than the bound.
    if upper.count < 8 {
      guard last > 0 else { return nil }
      last -= 1
    }
    return first <= last ? first...last : nil
  }

  /// Returns whether a key is in the range.
  func contains(_ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(lower) && !upper.lexicographicallyPrecedes(key)
  }
}

extension KeyRange {
  /// Returns ordered and disjoint ranges that together contain the keys of all given ranges.
  ///
  /// - Complexity: O(*n* log *n*) for *n* ranges.
  static func union(_ ranges: [KeyRange]) -> [KeyRange] {
    var union: [KeyRange] = []
    for range in ranges.sorted(by: { $0.lower.lexicographicallyPrecedes($1.lower) }) {
      if let last = union.last, !last.upper.lexicographicallyPrecedes(range.lower) {
        if last.upper.lexicographicallyPrecedes(range.upper) {
          union[union.count - 1].upper = range.upper
        }
      } else {
        union.append(range)
      }
    }
    return union
  }

  /// Returns the ranges of the keys that are in both lists, ordered and disjoint.
  ///
  /// - Parameters:
  ///   - left: ordered and disjoint ranges.
  ///   - right: ordered and disjoint ranges.
  ///
  /// - Complexity: O(*l* + *r*) for lists of *l* and *r* ranges.
  static func intersection(_ left: [KeyRange], _ right: [KeyRange]) -> [KeyRange] {
    var intersection: [KeyRange] = []
    var (one, other) = (left[...], right[...])
    while let first = one.first, let second = other.first {
      let lower = first.lower.lexicographicallyPrecedes(second.lower) ? second.lower : first.lower
      let endsFirst = first.upper.lexicographicallyPrecedes(second.upper)
      let upper = endsFirst ? first.upper : second.upper
      if !upper.lexicographicallyPrecedes(lower) {
        intersection.append(KeyRange(lower: lower, upper: upper))
      }
      if endsFirst { one.removeFirst() } else { other.removeFirst() }
    }
    return intersection
  }
}
