import CloudKitModel
import StoreModel

extension DatabaseTable {
  /// Adds bytes that a record or an asset of the database gained, or lost if negative.
  ///
  /// The transaction sums the changes and writes them once for each database, before its commit.
  func countBytes(_ change: Int, in database: DatabaseID) throws {
    guard change != 0 else { return }
    transaction.storedBytes.add(Int64(change), to: database)
  }

  /// The bytes of a database in this transaction. Changes that are not yet written are included.
  /// The row is read once in a transaction.
  func totalBytes(of database: DatabaseID) throws -> Int64 {
    try transaction.storedBytes.total(of: database) { try bytesInRow(of: database) }
  }

  /// The bytes of a database at the last commit. The result is 0 if there is no such database.
  func bytesInRow(of database: DatabaseID) throws -> Int64 {
    try transaction.connection.first(
      "SELECT stored_bytes FROM databases WHERE database_id = $1",
      [.integer(database.rawValue)]
    ) { $0.integer(0) } ?? 0
  }

  /// Writes the changed counts, one statement for each database. Call it before the commit.
  func writeStoredBytes() throws {
    for (database, bytes) in transaction.storedBytes.toWrite {
      try transaction.connection.runLater(
        "UPDATE databases SET stored_bytes = stored_bytes + $2 WHERE database_id = $1",
        [.integer(database.rawValue), .integer(bytes)])
    }
    transaction.storedBytes = StoredBytes()
  }
}
