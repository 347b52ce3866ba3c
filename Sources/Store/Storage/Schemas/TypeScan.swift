import CloudKitModel
import StoreModel

/// A scan of all records of a type in all databases of a container's environment, in batches.
///
/// The scan reads the databases in the order of their numbers. Within one it follows the index of
/// creation times, which every type has. These never change, so a record that is saved between two
/// batches keeps its position.
struct TypeScan {
  /// An entry of the index of creation times, after which the next batch begins.
  struct Position: Sendable {
    var database: Int64 = 0
    var key: [UInt8] = []
    var number: Int64 = -1
  }

  let type: RecordTypeEntry
  let container: String
  let environment: ContainerEnvironment
  let transaction: StoreTransaction

  /// All records of a batch are of one database; a batch may be empty. `next` is nil at the end.
  func records(
    after position: Position, limit: Int
  ) throws -> (database: DatabaseID, records: [StoredRecord], next: Position?) {
    var position = position
    if position.database == 0 {
      guard let first = try nextDatabase(after: 0) else {
        return (DatabaseID(rawValue: 0), [], nil)
      }
      position = Position(database: first)
    }
    let database = DatabaseID(rawValue: position.database)
    let rows = try RecordTable(transaction: transaction).rows(
      indexedBy: creationNumber, after: position, limit: limit)
    let next: Position? =
      if rows.count == limit, let (row, key) = rows.last {
        Position(database: position.database, key: key, number: row.number)
      } else {
        try nextDatabase(after: position.database).map { Position(database: $0) }
      }
    return (
      database,
      try rows.map { try RecordTable(transaction: transaction).record($0.0, in: database) }, next
    )
  }

  func hasRecords() throws -> Bool {
    var database: Int64 = 0
    while let next = try nextDatabase(after: database) {
      let isThere = try ValueIndexTable(transaction: transaction).hasEntries(
        inField: creationNumber, of: next)
      if isThere { return true }
      database = next
    }
    return false
  }

  func countRecords() throws -> Int {
    var count = 0
    var database: Int64 = 0
    while let next = try nextDatabase(after: database) {
      count += try ValueIndexTable(transaction: transaction).count(
        inField: creationNumber, of: next)
      database = next
    }
    return count
  }

  func nextDatabase(after database: Int64) throws -> Int64? {
    try DatabaseTable(transaction: transaction).next(
      after: database, of: container, in: environment)
  }

  private var creationNumber: Int64 {
    type.field(for: .system(.createdTimestamp))?.number ?? 0
  }
}
