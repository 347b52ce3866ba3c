import CloudKitModel
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

/// ``IndexChanges`` beside a list of what was noted.
struct IndexChangesTests {
  private struct Row: Hashable {
    var database: Int64
    var fieldNumber: Int64
    var key: [UInt8]
    var recordNumber: Int64

    func precedes(_ other: Row) -> Bool {
      if database != other.database { return database < other.database }
      if fieldNumber != other.fieldNumber { return fieldNumber < other.fieldNumber }
      if key != other.key { return key.lexicographicallyPrecedes(other.key) }
      return recordNumber < other.recordNumber
    }
  }

  private struct Noted {
    var row: Row
    var zoneNumber: Int64
    var isAddition: Bool
  }

  /// Keys that differ before, at and after the eighth byte, and by their length alone.
  private static let keys: [[UInt8]] =
    [[], [0], [0, 0], [0xFF], Array("longer key".utf8), Array("longer kez".utf8)]
    + (6...10).map { [UInt8](repeating: 0, count: $0) }
    + (6...10).map { [UInt8](repeating: 0x7F, count: $0) + [0x80] }
    + [[UInt8](repeating: 0xFF, count: 8), [UInt8](repeating: 0xFF, count: 9)]

  private func inOrder(_ changes: IndexChanges) -> [IndexChanges.Change] {
    var visited: [IndexChanges.Change] = []
    changes.forEachInOrder { visited.append($0) }
    return visited
  }

  @Test(
    "come in the order of the index, of each row the last one, as in a plain list",
    arguments: Seeds.some(6)
  )
  func random(_ seed: Int) {
    var random = SeededGenerator(seed: seed)
    for round in 0..<200 {
      var changes = IndexChanges()
      var noted: [Noted] = []
      var marks: [(mark: IndexChanges.Mark, count: Int)] = []
      for _ in 0..<Int.random(in: 0...60, using: &random) {
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
          marks.append((changes.mark, noted.count))
        case 1:
          guard let last = marks.popLast() else { continue }
          changes.restore(last.mark)
          noted.removeSubrange(last.count...)
        default:
          let row = Row(
            database: Int64.random(in: 1...2, using: &random),
            fieldNumber: random.pick([-7, 3, 4]), key: random.pick(Self.keys),
            recordNumber: Int64.random(in: 1...3, using: &random))
          let change = Noted(
            row: row, zoneNumber: row.recordNumber + 100,
            isAddition: Bool.random(using: &random))
          changes.note(
            IndexEntry(fieldNumber: row.fieldNumber, key: row.key), of: row.recordNumber,
            inZone: change.zoneNumber, of: DatabaseID(rawValue: row.database),
            isAddition: change.isAddition)
          noted.append(change)
        }
      }
      var latest: [Row: Noted] = [:]
      for change in noted { latest[change.row] = change }
      let wanted = latest.values.sorted { $0.row.precedes($1.row) }
      let found = inOrder(changes)
      let comment: Comment = "seed \(seed), round \(round)"
      #expect(changes.count == noted.count, comment)
      #expect(found.map { row(of: $0, in: changes) } == wanted.map(\.row), comment)
      #expect(found.map(\.isAddition) == wanted.map(\.isAddition), comment)
      #expect(found.map(\.zoneNumber) == wanted.map(\.zoneNumber), comment)
    }
  }

  private func row(of change: IndexChanges.Change, in changes: IndexChanges) -> Row {
    Row(
      database: change.database, fieldNumber: change.fieldNumber,
      key: Array(changes.keys[change.start..<change.start + change.count]),
      recordNumber: change.recordNumber)
  }

  @Test("the entries of a new record are additions, each with its own key")
  func entries() throws {
    let record = Record(
      recordID: RecordID(recordName: "r"), recordType: "Note",
      fields: ["n": .int64(5), "t": .string("Deep sea deep")])
    let entries = IndexEntries(
      of: record,
      fields: [
        "n": .init(number: 3, type: FieldType(.int64), indexes: [.queryable]),
        "t": .init(number: 4, type: FieldType(.string), indexes: [.queryable, .searchable]),
      ], hasOwner: true)
    var changes = IndexChanges()
    changes.add(entries, of: 9, inZone: 2, of: DatabaseID(rawValue: 1))
    let rows = inOrder(changes)
    #expect(rows.allSatisfy { $0.isAddition && $0.zoneNumber == 2 && $0.recordNumber == 9 })
    #expect(
      rows.map { row(of: $0, in: changes) }.map { "\($0.fieldNumber) \($0.key)" } == [
        "-4 \(Array("deep".utf8))", "-4 \(Array("sea".utf8))",
        "3 \(ValueKey.key(of: 5 as Int64))", "4 \(Array("Deep sea deep".utf8))",
      ])
  }
}
