import CloudKitModel
import StoreModel

extension DatabaseTable {
  /// Counts a change of the bytes that a database's records and assets use. A negative number means
  /// that the database uses fewer bytes.
  ///
  /// The transaction adds up the changes, and writes one sum for each database before its commit.
  func countBytes(_ change: Int, in database: DatabaseID) throws {
    guard change != 0 else { return }
    transaction.storedBytes.add(Int64(change), to: database)
  }

  /// Returns the bytes of a database, with the changes of this transaction. The method reads the
  /// row only once in a transaction, until the sums are written.
  func totalBytes(of database: DatabaseID) throws -> Int64 {
    try transaction.storedBytes.total(of: database) { try bytesInRow(of: database) }
  }

  /// Returns the bytes in the database's row, without the changes that this transaction has not
  /// written yet. The result is 0 if there is no such database.
  func bytesInRow(of database: DatabaseID) throws -> Int64 {
    try transaction.connection.first(
      "SELECT stored_bytes FROM databases WHERE database_id = $1",
      [.integer(database.rawValue)]
    ) { $0.integer(0) } ?? 0
  }

  /// Writes the sums of the changes, with one statement for each database. Call the method before
  /// the commit.
  func writeStoredBytes() throws {
    for (database, bytes) in transaction.storedBytes.toWrite {
      try transaction.connection.runLater(
        "UPDATE databases SET stored_bytes = stored_bytes + $2 WHERE database_id = $1",
        [.integer(database.rawValue), .integer(bytes)])
    }
    transaction.storedBytes = StoredBytes()
  }
}
