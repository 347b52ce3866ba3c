import CloudKitModel

/// What a change has of all that an index asks for: its points, its ordered values and its places.
struct RecordFacts: Sendable {
  /// For each point the number of the last change that had it.
  private var meetings: [UInt32] = []
  private var change: UInt32 = 0
  /// The change's value on each ordered path, behind one that is between all bounds.
  private(set) var ordered: [OrderedValue] = []
  /// The change's place in each field; ``SpherePoint/nowhere`` for none.
  private(set) var places: [SpherePoint] = []
  /// Points of the change: all, or those under which entries are filed.
  private(set) var hits: [UInt32] = []
  private(set) var hitCount = 0
  private var keepsAll = false

  /// Begins with a change.
  mutating func begin(points: Int, orderedPaths: Int, fields: Int, keepsAll: Bool) {
    self.keepsAll = keepsAll
    if meetings.count < points {
      meetings += repeatElement(0, count: points + points / 4 + 16 - meetings.count)
    }
    change &+= 1
    if change == 0 {
      // After four thousand million changes the numbers begin anew.
      meetings = [UInt32](repeating: 0, count: meetings.count)
      change = 1
    }
    hitCount = 0
    Self.clear(&ordered, count: orderedPaths + 1, to: .missing)
    ordered[0] = .always
    Self.clear(&places, count: fields, to: .nowhere)
  }

  private static func clear<Value>(_ values: inout [Value], count: Int, to value: Value) {
    if values.count != count {
      values = [Value](repeating: value, count: count)
    } else {
      for place in 0..<count { values[place] = value }
    }
  }

  /// Notes that the change has a point.
  @inline(__always)
  mutating func meet(_ point: UInt32, hasCandidates: Bool) {
    guard meetings[Int(point)] != change else { return }
    meetings[Int(point)] = change
    guard hasCandidates || keepsAll else { return }
    if hitCount == hits.count { hits += repeatElement(0, count: hits.count + 64) }
    hits[hitCount] = point
    hitCount += 1
  }

  /// Whether the change has a point.
  @inline(__always)
  func has(_ point: UInt64) -> Bool { meetings[Int(point)] == change }

  mutating func setValue(_ value: OrderedValue, path: Int) { ordered[path + 1] = value }
  mutating func setPlace(_ place: SpherePoint, field: Int) { places[field] = place }
}
