import CloudKitModel
import StoreModel

/// A scan of all records of a type in all databases of a container's environment, in batches.
///
/// The scan reads one database after the other, in the order of their numbers. Within a database it
/// follows the creation times of the records. A creation time never changes, so a record that is
/// saved between two batches keeps its position.
///
/// Every record type has the index of creation times that the scan reads.
struct TypeScan {
  /// A position of the scan: an entry of the index of creation times, after which the next batch
  /// begins.
  struct Position: Sendable {
    /// The number of the database; 0 before the first.
    var database: Int64 = 0
    /// The key of the entry; empty before the first entry of the database.
    var key: [UInt8] = []
    /// The record number of the entry; -1 before the first entry of the database.
    var number: Int64 = -1
  }

  /// The record type whose records are read.
  let type: RecordTypeEntry
  let container: String
  let environment: ContainerEnvironment
  let transaction: StoreTransaction

  /// Returns the next records, all of one database.
  ///
  /// - Parameters:
  ///   - position: the position that the previous call returned; `Position()` to begin.
  ///   - limit: the most records to return.
  ///
  ///   - Returns: the database, its next records (possibly none), and the position after them. The
  ///     position is nil at the end of the scan.
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

  /// Returns whether there is a record of the type in any database of the container.
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

  /// Returns the number of the type's records.
  ///
  /// - Complexity: linear in that number.
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

  /// Returns the number of the container's next database, in the order of numbers; nil if there is
  /// none.
  ///
  /// - Parameter database: the number before the wanted one; 0 for the first database.
  func nextDatabase(after database: Int64) throws -> Int64? {
    try DatabaseTable(transaction: transaction).next(
      after: database, of: container, in: environment)
  }

  /// The number of the creation time in the value index, which has an entry for every record.
  private var creationNumber: Int64 {
    type.field(for: .system(.createdTimestamp))?.number ?? 0
  }
}
