/// The order of one value relative to another.
public enum ValueOrder: Sendable, Hashable {
  case less, equal, greater
}

extension RecordValue {
  /// Returns the order of `self` relative to `other`. Sorts and the comparators for ranges, such as
  /// `LESS_THAN`, use this order.
  ///
  /// - Integers and doubles are compared by their exact numeric values. So the integer
  ///   9,007,199,254,740,993 (2⁵³ + 1) is greater than the double 9,007,199,254,740,992.
  /// - Strings are ordered by their UTF-8 bytes, which is the order of their code points. Case and
  ///   accents count.
  /// - `-0.0` equals `0.0`.
  ///
  /// - Returns: nil when the two values have no order: when their types differ (except an integer
  ///   and a double), when their type has no order, or when one of them is a NaN.
  public func order(to other: RecordValue) -> ValueOrder? {
    switch (self, other) {
    case (.string(let left), .string(let right)): Self.order(left, right)
    case (.int64(let left), .int64(let right)): Self.order(left, right)
    case (.double(let left), .double(let right)): Self.order(left, right)
    case (.int64(let left), .double(let right)): Self.order(left, right)
    case (.double(let left), .int64(let right)): Self.order(right, left)?.reversed
    case (.timestamp(let left), .timestamp(let right)): Self.order(left, right)
    default: nil
    }
  }

  /// Returns whether `EQUALS` treats the two values as the same.
  ///
  /// Values with an order are compared by ``order(to:)``. Bytes are equal byte for byte, locations
  /// by their two coordinates, and references by their target (``Reference/hasSameTarget(as:)``).
  /// Assets are equal by checksum, and lists element by element in order.
  public func isEqual(to other: RecordValue) -> Bool {
    switch (self, other) {
    case (.bytes(let left), .bytes(let right)):
      return left == right
    case (.location(let left), .location(let right)):
      return left.latitude == right.latitude && left.longitude == right.longitude
    case (.reference(let left), .reference(let right)):
      return left.hasSameTarget(as: right)
    case (.asset(let left), .asset(let right)):
      return left.fileChecksum == right.fileChecksum
    case (.list(_, let left), .list(_, let right)):
      return left.count == right.count && zip(left, right).allSatisfy { $0.isEqual(to: $1) }
    default:
      return order(to: other) == .equal
    }
  }

  // The result is optional so that Swift prefers this function to the generic one below.
  // `Comparable` treats composed and decomposed accents as equal, which this order does not.
  private static func order(_ left: String, _ right: String) -> ValueOrder? {
    if left.hasSameBytes(as: right) { return .equal }
    return left.utf8.lexicographicallyPrecedes(right.utf8) ? .less : .greater
  }

  private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> ValueOrder? {
    if left < right { return .less }
    if left == right { return .equal }
    return left > right ? .greater : nil
  }

  private static func order(_ left: Int64, _ right: Double) -> ValueOrder? {
    if right.isNaN { return nil }
    // Both bounds are powers of two, so a double represents them exactly.
    if right >= 0x1p63 { return .less }
    if right < -0x1p63 { return .greater }
    let whole = Int64(right.rounded(.towardZero))
    if left != whole { return left < whole ? .less : .greater }
    let fraction = right - right.rounded(.towardZero)
    if fraction == 0 { return .equal }
    return fraction > 0 ? .less : .greater
  }
}

extension ValueOrder {
  /// The order when the two values change places.
  public var reversed: ValueOrder {
    switch self {
    case .less: .greater
    case .equal: .equal
    case .greater: .less
    }
  }
}
