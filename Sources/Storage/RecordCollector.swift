import CloudKitModel

/// Keeps the first records of an order out of any number that pass by, one page and one more.
struct RecordCollector {
  let order: RecordOrder
  let limit: Int
  /// Records up to this place were on earlier pages.
  var start: RecordOrder.Place?
  private var kept: [(place: RecordOrder.Place, record: Record)] = []

  init(order: RecordOrder, limit: Int) {
    self.order = order
    self.limit = limit
  }

  /// Whether it has a page and one more. When records come in order, the rest need not be seen.
  var isFull: Bool { kept.count > limit }

  mutating func add(_ stored: StoredRecord) {
    let place = order.place(of: stored)
    if let start, !order.precedes(start, place) { return }
    kept.append((place, stored.record))
    if kept.count >= 4 * (limit + 1) { trim() }
  }

  /// The page, and its last place when there is more after it.
  mutating func page() -> ([Record], RecordOrder.Place?) {
    trim()
    let records = kept.prefix(limit).map(\.record)
    return (records, kept.count > limit ? kept[limit - 1].place : nil)
  }

  private mutating func trim() {
    kept.sort { order.precedes($0.place, $1.place) }
    kept.removeLast(max(0, kept.count - limit - 1))
  }
}
