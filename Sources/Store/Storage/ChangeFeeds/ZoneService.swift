import CloudKitModel
import SQLEngine
import StoreModel

/// The zones of databases: their creation, deletion and listing.
struct ZoneService: ZoneStore {
  let transactions: Transactions

  /// Creates and deletes zones in one transaction, with the database's lock; see ``ZoneModifier``.
  ///
  /// - Returns: one outcome for each operation, in the order of `operations`.
  func modifyZones(
    _ operations: [ZoneOperation], in database: DatabaseID, origin: ChangeOrigin,
    timestamp: Timestamp
  ) async throws -> [ZoneOutcome] {
    try await transactions.write(locking: .database(database)) { transaction in
      var modifier = try ZoneModifier(
        database: database, origin: origin, timestamp: timestamp, operations: operations.count,
        transaction: transaction)
      return try modifier.run(operations)
    }
  }

  /// Returns all zones of a database, the default zone first.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  func zones(in database: DatabaseID) async throws -> [Zone] {
    try await transactions.read { transaction in
      _ = try DatabaseTable(transaction: transaction).address(of: database)
      return try ZoneTable(transaction: transaction).zones(in: database)
    }
  }
}
