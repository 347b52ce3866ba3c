/// A range of the keys of one field, with both ends, in the order of bytes (``ValueKey``).
struct KeyRange: Equatable {
  var lower: [UInt8]
  var upper: [UInt8]

  static let everything = KeyRange(lower: [], upper: ValueKey.greatest)

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

  func contains(_ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(lower) && !upper.lexicographicallyPrecedes(key)
  }
}

extension KeyRange {
  init(_ key: [UInt8]) {
    self.init(lower: key, upper: key)
  }

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

  /// Both lists are ordered and disjoint, and so is the result.
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
