import StoreModel

/// The bytes of records and assets that a transaction adds to databases and removes from them.
///
/// The type is a value, so that a rollback to a savepoint restores the earlier one. The writer
/// writes the sums before the commit (``DatabaseTable/writeStoredBytes()``).
struct StoredBytes {
  /// The sum of the changes for each database; below 0 if more was removed.
  private var changes: [DatabaseID: Int64] = [:]
  /// The stored counts of databases, as far as they were read.
  private var rows: [DatabaseID: Int64] = [:]

  /// The bytes to add to each database's row. Databases without a change in sum are not among them.
  var toWrite: [(database: DatabaseID, bytes: Int64)] {
    changes.filter { $0.value != 0 }.map { ($0.key, $0.value) }
  }

  /// Adds bytes to a database's sum; a negative number removes bytes.
  mutating func add(_ bytes: Int64, to database: DatabaseID) {
    changes[database, default: 0] += bytes
  }

  /// The bytes of a database including the transaction's changes; `row` reads the stored count.
  ///
  /// - Parameter row: reads the stored count. The function runs once for each database.
  mutating func total(of database: DatabaseID, row: () throws -> Int64) rethrows -> Int64 {
    let stored = try rows[database] ?? row()
    rows[database] = stored
    return stored + changes[database, default: 0]
  }
}
