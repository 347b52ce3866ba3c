import CloudKitModel
import StoreModel

/// The rows of the value index that a transaction adds and removes. They are written together in
/// the order of the index, so that successive rows are mostly on one page.
///
/// All keys are in one array of bytes, because a commit has tens of thousands.
struct IndexChanges {
  /// A row to add or to remove.
  struct Change {
    var database: Int64
    /// Negative for the index of the field's words.
    var fieldNumber: Int64
    /// The first eight bytes of the key as a big-endian number, padded with zeros. They nearly
    /// always decide the order.
    var prefix: UInt64
    var recordNumber: Int64
    var zoneNumber: Int64
    var start: Int
    var count: Int
    var isAddition: Bool
  }

  /// A state for ``IndexChanges/restore(_:)``.
  struct Mark {
    fileprivate var keys: Int
    fileprivate var changes: Int
  }

  private(set) var keys: [UInt8] = []
  private var changes: [Change] = []

  var count: Int { changes.count }

  var mark: Mark { Mark(keys: keys.count, changes: changes.count) }

  mutating func restore(_ mark: Mark) {
    keys.removeSubrange(mark.keys...)
    changes.removeSubrange(mark.changes...)
  }

  /// Keeps memory of less than 1 MiB for keys, and of fewer than 32,768 changes, for the next
  /// transaction.
  mutating func removeAll() {
    keys.removeAll(keepingCapacity: keys.count < 1 << 20)
    changes.removeAll(keepingCapacity: changes.count < 1 << 15)
  }

  mutating func add(
    _ entries: IndexEntries, of recordNumber: Int64, inZone zoneNumber: Int64,
    of database: DatabaseID
  ) {
    let base = keys.count
    keys += entries.keys
    var start = base
    for place in entries.places {
      append(
        start..<(base + place.end), of: place.fieldNumber, database: database, record: recordNumber,
        zone: zoneNumber, isAddition: true)
      start = base + place.end
    }
  }

  mutating func note(
    _ entry: IndexEntry, of recordNumber: Int64, inZone zoneNumber: Int64,
    of database: DatabaseID, isAddition: Bool
  ) {
    let start = keys.count
    keys += entry.key
    append(
      start..<keys.count, of: entry.fieldNumber, database: database, record: recordNumber,
      zone: zoneNumber, isAddition: isAddition)
  }

  /// The key is already in ``keys``.
  private mutating func append(
    _ key: Range<Int>, of fieldNumber: Int64, database: DatabaseID, record: Int64, zone: Int64,
    isAddition: Bool
  ) {
    var prefix: UInt64 = 0
    for byte in keys[key].prefix(8) { prefix = prefix << 8 | UInt64(byte) }
    if key.count < 8 { prefix <<= UInt64(8 * (8 - key.count)) }
    changes.append(
      Change(
        database: database.rawValue, fieldNumber: fieldNumber, prefix: prefix,
        recordNumber: record, zoneNumber: zone, start: key.lowerBound, count: key.count,
        isAddition: isAddition))
  }

  /// Of several changes of a row, only the last is visited.
  ///
  /// - Complexity: O(*n* log *n*) for *n* changes.
  func forEachInOrder(_ visit: (Change) throws -> Void) rethrows {
    // A commit has tens of thousands of changes. So small ``Place`` values are sorted instead of
    // changes, for each field separately.
    var fields: [Field: [Place]] = [:]
    for (index, change) in changes.enumerated() {
      fields[Field(change), default: []].append(
        Place(prefix: change.prefix, index: UInt32(index)))
    }
    for (_, places) in fields.sorted(by: { $0.key < $1.key }) {
      let sorted = keys.withUnsafeBufferPointer { keys in
        places.sorted { left, right in
          if left.prefix != right.prefix { return left.prefix < right.prefix }
          let order = order(left, right, keys)
          return order != 0 ? order < 0 : left.index < right.index
        }
      }
      for (place, next) in zip(sorted, sorted.dropFirst()) {
        let isSameRow =
          place.prefix == next.prefix
          && keys.withUnsafeBufferPointer { order(place, next, $0) == 0 }
        if !isSameRow { try visit(changes[Int(place.index)]) }
      }
      if let last = sorted.last { try visit(changes[Int(last.index)]) }
    }
  }

  /// A field of a database, whose rows are adjacent in the index.
  private struct Field: Hashable, Comparable {
    var database: Int64
    var number: Int64

    init(_ change: Change) {
      database = change.database
      number = change.fieldNumber
    }

    static func < (left: Field, right: Field) -> Bool {
      left.database != right.database
        ? left.database < right.database : left.number < right.number
    }
  }

  /// A change with the prefix that nearly always decides its order.
  private struct Place {
    var prefix: UInt64
    /// The index in ``changes``. ``WriteSet`` keeps far fewer than `UInt32.max`.
    var index: UInt32
  }

  /// Compares rows of one field with the same prefix: negative if `left` comes first, positive if
  /// `right` does, 0 for the same row.
  private func order(_ left: Place, _ right: Place, _ keys: UnsafeBufferPointer<UInt8>) -> Int {
    let left = changes[Int(left.index)]
    let right = changes[Int(right.index)]
    for offset in 0..<min(left.count, right.count) {
      let (one, other) = (keys[left.start + offset], keys[right.start + offset])
      if one != other { return one < other ? -1 : 1 }
    }
    if left.count != right.count { return left.count < right.count ? -1 : 1 }
    if left.recordNumber != right.recordNumber {
      return left.recordNumber < right.recordNumber ? -1 : 1
    }
    return 0
  }
}
