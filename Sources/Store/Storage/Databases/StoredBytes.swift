import StoreModel

/// Bytes of records and assets that a transaction adds to databases and takes from them.
///
/// A value, so that whoever rolls something back puts the one from before in its place.
struct StoredBytes {
  private var changes: [DatabaseID: Int64] = [:]
  /// What the rows of databases say, as far as it was asked for.
  private var rows: [DatabaseID: Int64] = [:]

  /// What is to be added to each database's row.
  var toWrite: [(database: DatabaseID, bytes: Int64)] {
    changes.filter { $0.value != 0 }.map { ($0.key, $0.value) }
  }

  mutating func add(_ bytes: Int64, to database: DatabaseID) {
    changes[database, default: 0] += bytes
  }

  /// The bytes of a database with what the transaction changed; `row` reads what stood in its row.
  mutating func total(of database: DatabaseID, row: () throws -> Int64) rethrows -> Int64 {
    let stored = try rows[database] ?? row()
    rows[database] = stored
    return stored + changes[database, default: 0]
  }
}
