import StoreModel

/// The changes that a transaction makes to the stored bytes of databases.
///
/// The type is a struct, so a rollback to a savepoint can restore an earlier value. The transaction
/// writes the sums before its commit (``DatabaseTable/writeStoredBytes()``).
struct StoredBytes {
  /// The sum of the changes for each database, in bytes; below 0 if more bytes were removed than
  /// added.
  private var changes: [DatabaseID: Int64] = [:]
  /// The bytes in the rows of databases, for the rows that the transaction has read.
  private var rows: [DatabaseID: Int64] = [:]

  /// The bytes to add to each database's row. A database whose sum is 0 has no element.
  var toWrite: [(database: DatabaseID, bytes: Int64)] {
    changes.filter { $0.value != 0 }.map { ($0.key, $0.value) }
  }

  /// Adds bytes to a database's sum; a negative number removes bytes.
  mutating func add(_ bytes: Int64, to database: DatabaseID) {
    changes[database, default: 0] += bytes
  }

  /// Returns the bytes of a database, with the transaction's changes.
  ///
  /// - Parameter row: reads the bytes in the database's row. The function runs once for each
  ///   database.
  mutating func total(of database: DatabaseID, row: () throws -> Int64) rethrows -> Int64 {
    let stored = try rows[database] ?? row()
    rows[database] = stored
    return stored + changes[database, default: 0]
  }
}
