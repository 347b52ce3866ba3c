import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore: ZoneStore {
  public func modifyZones(
    _ operations: [ZoneOperation], in database: DatabaseID, origin: ChangeOrigin,
    timestamp: Timestamp
  ) async throws -> [ZoneOutcome] {
    try await write(locking: .database(database)) { transaction in
      var modifier = try ZoneModifier(
        database: database, origin: origin, timestamp: timestamp, operations: operations.count,
        transaction: transaction)
      return try modifier.run(operations)
    }
  }

  public func zones(in database: DatabaseID) async throws -> [Zone] {
    try await read { transaction in
      _ = try DatabaseTable(transaction: transaction).address(of: database)
      return try ZoneTable(transaction: transaction).zones(in: database)
    }
  }
}
