/// A value with the rows of one table that a transaction has read or decided on. Decided rows wait
/// for ``takeChanges()``; until then ``restore(to:)`` can drop decisions.
struct RowOverlay<Key: Hashable, Row> {
  /// A row before and after the decisions of the transaction.
  struct Entry {
    /// The row in the store; nil if there is none.
    fileprivate(set) var stored: Row?
    /// The row as decided; nil for a deletion.
    fileprivate(set) var row: Row?
    fileprivate var isChanged = false
    /// The period between two marks in which the row was decided on last.
    fileprivate var period = 0
  }

  typealias Mark = Int

  private var entries: [Key: Entry] = [:]
  /// The entries as before the decisions, once for each period, in order.
  private var log: [(key: Key, before: Entry?)] = []
  private var period = 0

  subscript(key: Key) -> Entry? { entries[key] }
  var hasChanges: Bool { !log.isEmpty }
  var isKnown: Bool { !entries.isEmpty }
  var changeCount: Int { log.count }

  /// Notes a row as the store has it; nil if it has none.
  mutating func note(_ row: Row?, for key: Key) {
    entries[key] = Entry(stored: row, row: row)
  }

  /// Decides on a row; nil deletes it.
  mutating func decide(_ row: Row?, for key: Key) {
    Self.decide(row, over: &entries[key], in: period, log: &log, key)
  }

  // With the entry in place, a decision hashes the key once.
  private static func decide(
    _ row: Row?, over entry: inout Entry?, in period: Int, log: inout [(key: Key, before: Entry?)],
    _ key: Key
  ) {
    if entry?.isChanged != true || entry?.period != period { log.append((key, entry)) }
    entry = Entry(stored: entry?.stored, row: row, isChanged: true, period: period)
  }

  mutating func mark() -> Mark {
    period += 1
    return log.count
  }

  /// No change may have been taken since the mark.
  mutating func restore(to mark: Mark) {
    while log.count > mark {
      let last = log.removeLast()
      entries[last.key] = last.before
    }
    period += 1
  }

  /// The rows decided on since the last call, in the order of the first decisions. They count as
  /// stored from now on.
  mutating func takeChanges() -> [(key: Key, stored: Row?, row: Row?)] {
    var changes: [(key: Key, stored: Row?, row: Row?)] = []
    changes.reserveCapacity(log.count)
    for (key, _) in log {
      guard let place = entries.index(forKey: key), entries.values[place].isChanged else {
        continue
      }
      let row = entries.values[place].row
      changes.append((key, entries.values[place].stored, row))
      entries.values[place].stored = row
      entries.values[place].isChanged = false
    }
    log.removeAll(keepingCapacity: true)
    return changes
  }

  /// Forgets all rows, of which none may be unwritten.
  mutating func forget() {
    entries.removeAll(keepingCapacity: true)
  }
}
