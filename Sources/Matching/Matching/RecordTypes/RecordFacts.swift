import CloudKitModel

/// What a change has of all that an index asks for: its points, its ordered values and its places.
struct RecordFacts: Sendable {
  /// A point of the change, with the entries under it.
  struct Hit: BitwiseCopyable, Sendable {
    var point: UInt32
    var candidates: RunList
    var certain: RunList

    fileprivate static let none = Hit(point: 0, candidates: RunList(), certain: RunList())
  }

  private var met = PointSet()
  /// The change's value on each ordered path, behind one that is between all bounds.
  private(set) var ordered: [OrderedValue] = []
  /// The change's place in each field; ``SpherePoint/nowhere`` for none.
  private(set) var places: [SpherePoint] = []
  /// Points of the change: all, or those under which entries are filed.
  private(set) var hits: [Hit] = []
  private(set) var hitCount = 0
  private var keepsAll = false

  /// Begins with a change.
  mutating func begin(orderedPaths: Int, fields: Int, keepsAll: Bool) {
    self.keepsAll = keepsAll
    met.removeAll()
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
  mutating func meet(_ number: UInt32, _ point: PointTable.Point) {
    guard met.insert(number), !point.isEmpty || keepsAll else { return }
    if hitCount == hits.count { hits += repeatElement(.none, count: hits.count + 64) }
    hits[hitCount] = Hit(point: number, candidates: point.candidates, certain: point.certain)
    hitCount += 1
  }

  /// Whether the change has a point.
  @inline(__always)
  func has(_ point: UInt64) -> Bool { met.contains(UInt32(truncatingIfNeeded: point)) }

  mutating func setValue(_ value: OrderedValue, path: Int) { ordered[path + 1] = value }
  mutating func setPlace(_ place: SpherePoint, field: Int) { places[field] = place }
}
