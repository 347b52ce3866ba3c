import CloudKitModel

/// The values of the latest 128 learned changes, on an ordered path or in a field of places.
///
/// The index uses the sample to estimate the cost of an interval, a bound or a circle before an
/// entry is filed there.
struct Sample<Value: BitwiseCopyable & Sendable>: Sendable {
  /// The values, in a ring buffer.
  private var values: [Value] = []
  /// The index of the oldest value of a full buffer.
  private var next = 0

  private static var capacity: Int { 128 }

  /// Adds the value of a change, which may be "no value". In a full sample, the value replaces the
  /// oldest one.
  ///
  /// - Complexity: O(1), amortized.
  mutating func add(_ value: Value) {
    if values.count < Self.capacity {
      values.append(value)
    } else {
      values[next] = value
      next = (next + 1) % Self.capacity
    }
  }

  /// Returns the estimated number of changes, of a thousand, whose value satisfies `isSuch`.
  ///
  /// - Parameter typical: The estimate without a sample. It has the weight of sixteen changes.
  /// - Complexity: O(*n*), where *n* is the size of the sample, at most 128.
  func cost(typical: Double, _ isSuch: (Value) -> Bool) -> Double {
    var such = 0
    for value in values where isSuch(value) { such += 1 }
    return (Double(such) * 1_000 + typical * 16) / Double(values.count + 16)
  }
}

extension Sample<OrderedValue> {
  /// Returns the estimated number of changes, of a thousand, whose value is in an interval, both
  /// bounds included. `typical` is the estimate without a sample.
  func cost(low: UInt64, high: UInt64, typical: Double) -> Double {
    cost(typical: typical) { !$0.isMissing && $0.isWithin(low, high) }
  }
}

extension Sample<SpherePoint> {
  /// Returns the estimated number of changes, of a thousand, whose place is in the cells that cover
  /// a circle.
  ///
  /// The cells have about four times the area of the circle. The estimate therefore uses a circle
  /// with twice the distance.
  func cost(center: Location, distance: Double) -> Double {
    let cap = PlaceCap(center: center, distance: distance * 2)
    return cost(typical: 20) { cap.side(of: $0) == .inside }
  }
}
