import CloudKitModel
import StoreModel

/// The zones of databases: their creation, deletion and listing.
public struct ZoneService: Sendable {
  let transactions: Transactions

  /// Creates and deletes zones in one transaction. A failed operation does not affect the others.
  /// The default zone cannot be deleted.
  ///
  /// - Returns: one outcome for each operation, in their order.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently; ``StoreError/Code/notFound`` if there is no such database.
  public func modifyZones(
    _ operations: [ZoneOperation], in database: DatabaseID, origin: ChangeOrigin,
    timestamp: Timestamp
  ) async throws -> [ZoneOutcome] {
    let address = try await transactions.read {
      try DatabaseTable(transaction: $0).address(of: database)
    }
    guard address.scope != .shared else {
      return try await leaveZones(operations, in: database, origin: origin, timestamp: timestamp)
    }
    return try await transactions.write(locking: .database(database)) { transaction in
      try ZoneModifier(
        database: database, origin: origin, timestamp: timestamp, transaction: transaction
      ).run(operations)
    }
  }

  /// Returns all zones of a database, the default zone first.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  public func zones(in database: DatabaseID) async throws -> [Zone] {
    try await transactions.read { transaction in
      if let shared = try SharedDatabase.at(database, in: transaction) {
        return try shared.zones().map { try $0.zone() }
      }
      return try ZoneTable(transaction: transaction).zones(in: database)
    }
  }

  /// The deletion of a zone ends the user's part in all its shares; the zone stays with its owner.
  /// No zone can be created.
  private func leaveZones(
    _ operations: [ZoneOperation], in database: DatabaseID, origin: ChangeOrigin,
    timestamp: Timestamp
  ) async throws -> [ZoneOutcome] {
    var outcomes: [ZoneOutcome] = []
    for operation in operations {
      switch operation {
      case .create(let zoneID):
        outcomes.append(
          .failed(
            zoneID,
            ItemFailure(
              .badDatabase, field: "zoneID",
              "zone '\(zoneID)' cannot be created: a shared database has zones of other users only")
          ))
      case .delete(let zoneID):
        do {
          try await leave(zoneID, in: database, origin: origin, timestamp: timestamp)
          outcomes.append(.deleted(zoneID))
        } catch let failure as ItemFailure {
          outcomes.append(.failed(zoneID, failure))
        }
      }
    }
    return outcomes
  }

  /// Ends the user's part in all shares of the zone.
  ///
  /// - Throws: ``ItemFailure/Code/zoneNotFound``.
  private func leave(
    _ zoneID: ZoneID, in database: DatabaseID, origin: ChangeOrigin, timestamp: Timestamp
  ) async throws {
    let owner = try await transactions.read { transaction in
      try SharedDatabase.at(database, in: transaction)?.existingZone(zoneID).database
    }
    guard let owner else { return }
    try await transactions.write(locking: .database(owner)) { transaction in
      guard let zone = try SharedDatabase.at(database, in: transaction)?.existingZone(zoneID)
      else { return }
      var writer = try RecordWriter(
        to: owner, by: origin, at: timestamp, transaction: transaction)
      for membership in zone.memberships { try writer.leave(membership) }
    }
  }
}
