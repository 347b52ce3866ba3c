import CloudKitModel

/// What the latest changes that the index learnt from had on an ordered path or in a field of places.
/// It tells what an interval or a circle would cost before anything is filed there.
struct Sample<Value: BitwiseCopyable & Sendable>: Sendable {
  private var values: [Value] = []
  private var next = 0

  private static var capacity: Int { 128 }

  /// Adds what a change has, which may be nothing, in place of what the oldest one had.
  mutating func add(_ value: Value) {
    if values.count < Self.capacity {
      values.append(value)
    } else {
      values[next] = value
      next = (next + 1) % Self.capacity
    }
  }

  /// How many of a thousand changes are thought to have such a value.
  ///
  /// - Parameter typical: how many are thought so before anything is known; it counts like sixteen
  ///   changes.
  func cost(typical: Double, _ isSuch: (Value) -> Bool) -> Double {
    var such = 0
    for value in values where isSuch(value) { such += 1 }
    return (Double(such) * 1_000 + typical * 16) / Double(values.count + 16)
  }
}

extension Sample<OrderedValue> {
  /// What it costs to look at an interval's entry for each value in the interval.
  func cost(low: UInt64, high: UInt64, typical: Double) -> Double {
    cost(typical: typical) { !$0.isMissing && $0.isWithin(low, high) }
  }
}

extension Sample<SpherePoint> {
  /// What it costs to look at a circle's entry for each place in the cells that hold the circle: they
  /// have about four times its area.
  func cost(center: Location, distance: Double) -> Double {
    let cap = PlaceCap(center: center, distance: distance * 2)
    return cost(typical: 20) { cap.side(of: $0) == .inside }
  }
}
