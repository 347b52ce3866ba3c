import StoreModel

/// Bytes of records and assets that a transaction adds to databases and removes from them.
///
/// A value, so that a rollback restores the earlier one.
struct StoredBytes {
  private var changes: [DatabaseID: Int64] = [:]
  /// The stored counts of databases, as far as they were read.
  private var rows: [DatabaseID: Int64] = [:]

  /// The bytes to add to each database's row.
  var toWrite: [(database: DatabaseID, bytes: Int64)] {
    changes.filter { $0.value != 0 }.map { ($0.key, $0.value) }
  }

  mutating func add(_ bytes: Int64, to database: DatabaseID) {
    changes[database, default: 0] += bytes
  }

  /// The bytes of a database including the transaction's changes; `row` reads the stored count.
  mutating func total(of database: DatabaseID, row: () throws -> Int64) rethrows -> Int64 {
    let stored = try rows[database] ?? row()
    rows[database] = stored
    return stored + changes[database, default: 0]
  }
}
