import SQLEngine
import StoreModel

extension DatabaseTable {
  /// The first number of each database is that of its default zone.
  static let firstNumber: Int64 = 1

  func nextNumber(of database: DatabaseID) throws -> Int64 {
    var numbers = try numbers(of: database)
    numbers.last += 1
    transaction.writes.databases.decide(numbers, for: database)
    return numbers.last
  }

  func subscriptionVersion(lockedIn database: DatabaseID) throws -> Int64 {
    try numbers(of: database).subscriptionVersion
  }

  /// Throws ``StoreError/Code/statementFailed`` if the transaction has no lock of the database.
  func numbers(of database: DatabaseID) throws -> WriteSet.DatabaseNumbers {
    if let known = transaction.writes.databases[database]?.row { return known }
    try transaction.checkLock(of: database)
    let numbers = try connection.first(sql.numbersOfOne, [.id(database)], Self.numbers)
    guard let numbers else { throw StoreError.missing(database) }
    transaction.writes.databases.note(numbers, for: database)
    return numbers
  }

  static func numbers(_ row: any SQLRow) -> WriteSet.DatabaseNumbers {
    WriteSet.DatabaseNumbers(
      last: row.integer(0), subscriptionVersion: row.integer(1), bytes: row.integer(2))
  }

  /// Counts added bytes of a database's records and assets; a negative number for removed ones.
  func countBytes(_ change: Int, in database: DatabaseID) throws {
    guard change != 0 else { return }
    let added = transaction.writes.addedBytes[database]?.row ?? 0
    transaction.writes.addedBytes.decide(added + Int64(change), for: database)
  }

  func totalBytes(of database: DatabaseID) throws -> Int64 {
    try numbers(of: database).bytes + (transaction.writes.addedBytes[database]?.row ?? 0)
  }

  func bytesInRow(of database: DatabaseID) throws -> Int64 {
    try connection.integer(sql.storedBytes, [.id(database)]) ?? 0
  }

  func writeDecided() throws {
    var changes: [DatabaseID: (last: Int64, subscriptions: Int64, bytes: Int64)] = [:]
    for (database, _, row) in transaction.writes.databases.takeChanges() {
      changes[database] = (row?.last ?? 0, row?.subscriptionVersion ?? 0, 0)
    }
    for change in transaction.writes.addedBytes.takeChanges() {
      changes[change.key, default: (0, 0, 0)].bytes = change.row ?? 0
    }
    // The next call of `numbers(of:)` reads the bytes that are written now.
    if transaction.writes.addedBytes.isKnown {
      transaction.writes.addedBytes.forget()
      transaction.writes.databases.forget()
    }
    var rows = RowInsertion(sql.raise)
    for (database, change) in changes.sorted(by: { $0.key < $1.key }) {
      try rows.add(in: connection) {
        $0.append(database.rawValue, change.last)
        $0.append(change.bytes, change.subscriptions)
      }
    }
    try rows.finish(in: connection)
  }
}
