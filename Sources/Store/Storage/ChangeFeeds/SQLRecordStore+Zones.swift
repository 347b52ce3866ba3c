import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func modifyZones(
    _ operations: [ZoneOperation], in database: DatabaseID, origin: ChangeOrigin,
    timestamp: Timestamp
  ) async throws -> [ZoneOutcome] {
    try await write(locking: .database(database)) { session in
      var modifier = try ZoneModifier(
        database: database, origin: origin, timestamp: timestamp, operations: operations.count,
        session: session)
      return try modifier.run(operations)
    }
  }

  public func zones(in database: DatabaseID) async throws -> [Zone] {
    try await read { session in
      _ = try DatabaseTable(session: session).address(of: database)
      return try ZoneTable(session: session).zones(in: database)
    }
  }
}
