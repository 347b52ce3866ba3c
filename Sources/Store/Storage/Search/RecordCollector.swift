import CloudKitModel

/// A collection that keeps the first records of an order out of any number: one page and one more.
///
/// Records may be added in any order. Those up to ``start`` are ignored.
struct RecordCollector {
  /// The order of the page.
  let order: RecordOrder
  /// The number of records of a page.
  let limit: Int
  /// The last place of the earlier pages; nil for the first page.
  var start: RecordOrder.Place?
  /// The kept records: fewer than twice a page and one record more.
  private var kept: [Kept] = []
  /// The rows of the kept records.
  private var rows: [StoredRecord.Row] = []
  /// Whether the kept records are sorted and within the limit.
  private var isTrimmed = true
  /// The last place within the limit, once there were more records.
  private var end: RecordOrder.Place?

  /// A place and the index of its row, since places are moved often before they are sorted.
  private struct Kept {
    var place: RecordOrder.Place
    var row: Int
  }

  /// Creates a collector without records.
  init(order: RecordOrder, limit: Int) {
    self.order = order
    self.limit = limit
  }

  /// Whether a page and one more record are kept. If records come in order, the rest need not be
  /// read.
  var isFull: Bool { kept.count > limit }

  /// The number of records that would fill the page, with the one after it.
  var missing: Int { max(0, limit + 1 - kept.count) }

  /// Adds a record, unless it was on an earlier page or is known to be after this page.
  mutating func add(_ row: StoredRecord.Row, at place: RecordOrder.Place) {
    if let start, !order.precedes(start, place) { return }
    if let end, order.precedes(end, place) { return }
    kept.append(Kept(place: place, row: rows.count))
    rows.append(row)
    isTrimmed = false
    if kept.count >= 2 * (limit + 1) { trim() }
  }

  /// Returns the page, and its last place if there are more records.
  mutating func page() -> ([StoredRecord.Row], RecordOrder.Place?) {
    trim()
    return (Array(rows.prefix(limit)), kept.count > limit ? kept[limit - 1].place : nil)
  }

  /// Returns the place of the first record after the page, as known so far; nil if there is none
  /// yet. Records after this place cannot be on the page.
  mutating func bound() -> RecordOrder.Place? {
    guard isFull else { return nil }
    trim()
    return kept[limit].place
  }

  /// Sorts the kept records, and drops those after the first record behind the page.
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
