import CloudKitModel

/// The facts of one change that a ``RecordTypeIndex`` compares with its entries.
///
/// - Points: facts that the record has, such as "`author` is ann", as numbers in the
///   ``PointTable``.
/// - Ordered values: numbers, timestamps and texts that are compared with bounds (``OrderedPath``).
/// - Places: locations on the earth whose distance to a center is compared.
struct RecordFacts: Sendable {
  /// A point of the change, with the lists of the candidates (references to entries) that are filed
  /// under the point.
  struct Hit: BitwiseCopyable, Sendable {
    var point: UInt32
    var candidates: RunList
    var certain: RunList

    /// The filler of unused elements.
    fileprivate static let none = Hit(point: 0, candidates: RunList(), certain: RunList())
  }

  private var met = PointSet()
  /// The change's value on each ordered path: path *n* has index *n* + 1. Element 0 is
  /// ``OrderedValue/always``.
  private(set) var ordered: [OrderedValue] = []
  /// The change's place in each field, by the number of the field; ``SpherePoint/nowhere`` if there
  /// is none.
  private(set) var places: [SpherePoint] = []
  /// The hits, in the first ``hitCount`` elements: the change's points under which entries are
  /// filed. In learning, all points of the change are hits.
  private(set) var hits: [Hit] = []
  private(set) var hitCount = 0
  /// Whether points without entries are hits too.
  private var keepsAll = false

  /// Empties the facts for the next change.
  ///
  /// - Parameter keepsAll: Whether points without entries are hits too, as learning needs.
  /// - Complexity: O(*n*), where *n* is the number of ordered paths and fields.
  mutating func begin(orderedPaths: Int, fields: Int, keepsAll: Bool) {
    self.keepsAll = keepsAll
    met.removeAll()
    hitCount = 0
    Self.clear(&ordered, count: orderedPaths + 1, to: .missing)
    ordered[0] = .always
    Self.clear(&places, count: fields, to: .nowhere)
  }

  /// Sets the array to `count` copies of a value. If the array has that count, its memory is used
  /// again.
  private static func clear<Value>(_ values: inout [Value], count: Int, to value: Value) {
    if values.count != count {
      values = [Value](repeating: value, count: count)
    } else {
      for place in 0..<count { values[place] = value }
    }
  }

  /// Adds a point of the change. A point that was added before is ignored.
  ///
  /// - Parameter point: The point. Its two lists of candidates are copied into the hit.
  ///
  /// - Complexity: O(1) on average, amortized.
  @inline(__always)
  mutating func meet(_ number: UInt32, _ point: PointTable.Point) {
    guard met.insert(number), !point.isEmpty || keepsAll else { return }
    if hitCount == hits.count { hits += repeatElement(.none, count: hits.count + 64) }
    hits[hitCount] = Hit(point: number, candidates: point.candidates, certain: point.certain)
    hitCount += 1
  }

  /// - Complexity: O(1) on average.
  @inline(__always)
  func has(_ point: UInt64) -> Bool { met.contains(UInt32(truncatingIfNeeded: point)) }

  /// - Parameter path: The number of the ordered path, from 0.
  mutating func setValue(_ value: OrderedValue, path: Int) { ordered[path + 1] = value }
  mutating func setPlace(_ place: SpherePoint, field: Int) { places[field] = place }
}
