import CloudKitModel

/// The zones of databases.
public protocol ZoneStore: Sendable {
  func modifyZones(
    _ operations: [ZoneOperation], in database: DatabaseID, origin: ChangeOrigin,
    timestamp: Timestamp
  ) async throws -> [ZoneOutcome]
  /// Every zone, the default zone first.
  func zones(in database: DatabaseID) async throws -> [Zone]
}
