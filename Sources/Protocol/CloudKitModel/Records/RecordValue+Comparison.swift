/// How one value stands to another.
public enum ValueOrder: Sendable, Hashable {
  case less, equal, greater
}

extension RecordValue {
  /// How `self` stands to `other`, or nil when the two have no order: values of different kinds,
  /// values of a kind without order, and anything beside a NaN.
  ///
  /// - Integers and doubles are compared by their exact numeric values, so that
  ///   9,007,199,254,740,993 is greater than the double 9,007,199,254,740,992.
  /// - Strings are ordered by their UTF-8 bytes, that is, by code points. Case and accents count.
  /// - `-0.0` equals `0.0`.
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

  /// Whether the two are the same value as `EQUALS` understands it.
  ///
  /// Beyond ``order(to:)``: bytes byte for byte; locations by their two coordinates; references by
  /// their target; assets by checksum; lists element by element, in order.
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

  // The optional result matters: without it the generic function below would be the better match,
  // and Swift's own order of strings takes composed and decomposed accents for equal.
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
    // Both bounds are powers of two, so they are exact as doubles.
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
  /// The order seen from the other side.
  public var reversed: ValueOrder {
    switch self {
    case .less: .greater
    case .equal: .equal
    case .greater: .less
    }
  }
}
