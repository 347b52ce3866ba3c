import CloudKitModel

/// A collection that keeps the first records, in the order of the query, of all that are added: a
/// page and one record more. The additional record shows that another page follows.
///
/// Records may be added in any order. Records up to ``start`` are ignored.
struct RecordCollector {
  /// The order of the query's results.
  let order: RecordOrder
  /// The number of records of a page.
  let limit: Int
  /// The place of the last record of the previous page; nil for the first page.
  var start: RecordOrder.Place?
  /// The places of the kept records: fewer than 2 × (``limit`` + 1).
  private var kept: [Kept] = []
  /// The rows of the kept records, by ``Kept/row``.
  private var rows: [StoredRecord.Row] = []
  /// Whether the kept records are sorted, and are at most ``limit`` + 1.
  private var isTrimmed = true
  /// The place of the last of ``limit`` + 1 kept records, when they were last sorted; nil before
  /// there were as many. Records after this place are ignored.
  private var end: RecordOrder.Place?

  /// A place, with the index of its row. Sorting moves places only, because rows are large.
  private struct Kept {
    var place: RecordOrder.Place
    var row: Int
  }

  /// Creates a collector without records.
  init(order: RecordOrder, limit: Int) {
    self.order = order
    self.limit = limit
  }

  /// Whether a page and one record more are kept. If records are added in order, no more are
  /// needed.
  var isFull: Bool { kept.count > limit }

  /// The number of records that are missing until ``isFull``.
  var missing: Int { max(0, limit + 1 - kept.count) }

  /// Adds a record. A record of an earlier page, or one known to come after this page, is ignored.
  mutating func add(_ row: StoredRecord.Row, at place: RecordOrder.Place) {
    if let start, !order.precedes(start, place) { return }
    if let end, order.precedes(end, place) { return }
    kept.append(Kept(place: place, row: rows.count))
    rows.append(row)
    isTrimmed = false
    if kept.count >= 2 * (limit + 1) { trim() }
  }

  /// Returns the rows of the page, and the place of its last record; the place is nil if no more
  /// records were added.
  mutating func page() -> ([StoredRecord.Row], RecordOrder.Place?) {
    trim()
    return (Array(rows.prefix(limit)), kept.count > limit ? kept[limit - 1].place : nil)
  }

  /// Returns the place of the first record after the page, of those added so far; nil before
  /// ``isFull``. Records after this place cannot be on the page.
  mutating func bound() -> RecordOrder.Place? {
    guard isFull else { return nil }
    trim()
    return kept[limit].place
  }

  /// Sorts the kept records, and removes all but the first ``limit`` + 1.
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
