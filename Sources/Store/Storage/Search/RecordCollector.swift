import CloudKitModel

/// Keeps the first records of an order out of any number that pass by, one page and one more.
struct RecordCollector {
  let order: RecordOrder
  let limit: Int
  /// Records up to this place were on earlier pages.
  var start: RecordOrder.Place?
  private var kept: [Kept] = []
  private var rows: [StoredRecord.Row] = []
  /// Whether what is kept is in order, and no more than there is room for.
  private var isTrimmed = true
  /// The last place that there is room for, once there was too much.
  private var end: RecordOrder.Place?

  /// A place, and where its row is: places are moved a lot, until they are in order.
  private struct Kept {
    var place: RecordOrder.Place
    var row: Int
  }

  init(order: RecordOrder, limit: Int) {
    self.order = order
    self.limit = limit
  }

  /// Whether it has a page and one more. When records come in order, the rest need not be seen.
  var isFull: Bool { kept.count > limit }

  /// How much of the page is there.
  var share: Double { Double(kept.count) / Double(limit + 1) }

  /// How many more records fill the page.
  var missing: Int { max(0, limit + 1 - kept.count) }

  mutating func add(_ row: StoredRecord.Row, at place: RecordOrder.Place) {
    if let start, !order.precedes(start, place) { return }
    if let end, order.precedes(end, place) { return }
    kept.append(Kept(place: place, row: rows.count))
    rows.append(row)
    isTrimmed = false
    if kept.count >= 2 * (limit + 1) { trim() }
  }

  /// The page, and its last place when there is more after it.
  mutating func page() -> ([StoredRecord.Row], RecordOrder.Place?) {
    trim()
    return (Array(rows.prefix(limit)), kept.count > limit ? kept[limit - 1].place : nil)
  }

  /// The place of the first record that is not on the page; nil while there is none.
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
