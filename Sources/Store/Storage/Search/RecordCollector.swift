import CloudKitModel

/// The first of all added records in the order of the query: a page, and one more that shows that
/// another page follows. Records may be added in any order. Those up to ``start`` are ignored.
struct RecordCollector {
  let order: RecordOrder
  let limit: Int
  var start: RecordOrder.Place?
  /// Fewer than 2 × (``limit`` + 1).
  private var kept: [Kept] = []
  private var rows: [StoredRecord.Row] = []
  /// Whether the kept records are sorted, and at most ``limit`` + 1.
  private var isTrimmed = true
  /// The last of ``limit`` + 1 kept records, when they were last sorted. Records after it are
  /// ignored.
  private var end: RecordOrder.Place?

  /// Sorting moves places only, because rows are large.
  private struct Kept {
    var place: RecordOrder.Place
    var row: Int
  }

  init(order: RecordOrder, limit: Int) {
    self.order = order
    self.limit = limit
  }

  /// A page and one more. Records added in order need no more.
  var isFull: Bool { kept.count > limit }

  var missing: Int { max(0, limit + 1 - kept.count) }

  /// Ignores a record of an earlier page, or one known to come after this page.
  mutating func add(_ row: StoredRecord.Row, at place: RecordOrder.Place) {
    if let start, !order.precedes(start, place) { return }
    if let end, order.precedes(end, place) { return }
    kept.append(Kept(place: place, row: rows.count))
    rows.append(row)
    isTrimmed = false
    if kept.count >= 2 * (limit + 1) { trim() }
  }

  mutating func page() -> ([StoredRecord.Row], RecordOrder.Place?) {
    trim()
    return (Array(rows.prefix(limit)), kept.count > limit ? kept[limit - 1].place : nil)
  }

  /// The first record after the page so far, from which none can be on the page; nil before
  /// ``isFull``.
  mutating func bound() -> RecordOrder.Place? {
    guard isFull else { return nil }
    trim()
    return kept[limit].place
  }

  private mutating func trim() {
    guard !isTrimmed else { return }
    isTrimmed = true
    kept.sort { order.precedes($0.place, $1.place) }
    kept.removeLast(max(0, kept.count - limit - 1))
    rows = kept.map { rows[$0.row] }
    for index in kept.indices { kept[index].row = index }
    if isFull { end = kept[limit].place }
  }
}

/// The order of a query's results: by the sort keys from the first to the last, then by record
/// number.
///
/// - Records without a value for a sort key come after the others, in ascending and in descending
///   order. A NaN counts as no value.
/// - Records that are equal in all sort keys come in the order of their numbers. The order of the
///   numbers is descending if the last sort key is.
/// - A sort key with a location sorts by the distance from that location.
struct RecordOrder {
  /// The sort keys; none for the order of record numbers.
  var sortKeys: [SortKey]

  /// The place of a record in the order.
  struct Place: Equatable {
    /// One for each sort key; nil for a missing value. For a sort by distance, metres.
    var values: [RecordValue?]
    var number: Int64
  }

  func place(of record: Record, number: Int64) -> Place {
    Place(values: sortKeys.map { Self.value(of: record, for: $0) }, number: number)
  }

  static func value(of record: Record, for sortKey: SortKey) -> RecordValue? {
    guard let value = record.value(for: sortKey.key) else { return nil }
    if let center = sortKey.relativeLocation {
      guard case .location(let location) = value else { return nil }
      return .double(location.distance(to: center))
    }
    return value.order(to: value) == nil ? nil : value
  }

  func precedes(_ left: Place, _ right: Place) -> Bool {
    for (index, sortKey) in sortKeys.enumerated() {
      switch (left.values[index], right.values[index]) {
      case (nil, nil): continue
      case (_, nil): return true
      case (nil, _): return false
      case (let leftValue?, let rightValue?):
        switch leftValue.order(to: rightValue) {
        case .less: return sortKey.ascending
        case .greater: return !sortKey.ascending
        case .equal, nil: continue
        }
      }
    }
    let ascending = sortKeys.last?.ascending ?? true
    return ascending ? left.number < right.number : left.number > right.number
  }
}
