import CloudKitModel

/// The zones of databases.
public protocol ZoneStore: Sendable {
  /// Creates and deletes zones in one transaction. A failed operation does not affect the others.
  /// The default zone cannot be deleted.
  ///
  /// - Parameters:
  ///   - origin: the user and the device that make the changes.
  ///   - timestamp: the time of the changes.
  /// - Returns: one outcome for each operation, in their order.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently; ``StoreError/Code/notFound`` if there is no such database.
  func modifyZones(
    _ operations: [ZoneOperation], in database: DatabaseID, origin: ChangeOrigin,
    timestamp: Timestamp
  ) async throws -> [ZoneOutcome]
  /// Returns all zones of a database, the default zone first.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  func zones(in database: DatabaseID) async throws -> [Zone]
}
