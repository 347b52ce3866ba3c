import CloudKitModel
import StoreModel

extension RecordModification {
  /// The request may be one of a shared database.
  var namesOtherOwners: Bool {
    operations.contains { $0.recordID.zoneID.ownerName != ZoneID.currentOwnerName }
  }
}

extension RecordService {
  /// The operations on the zones of each owner are one modification of the owner's private
  /// database. Outcomes are in the order of the request; nil if its database is no shared one.
  func sharedOutcomes(of modification: RecordModification) async throws -> [RecordOutcome]? {
    let parts = try await transactions.read { transaction in
      try SharedDatabase.at(modification.database, in: transaction)?.parts(of: modification)
    }
    guard let parts else { return nil }
    var outcomes = modification.operations.map { operation in
      RecordOutcome.failed(.noZone(operation.recordID.zoneID))
    }
    for part in parts {
      let modification = part.modification
      let found = try await transactions.write(
        locking: .database(modification.database), rows: modification.operations.count
      ) { transaction in
        try RepeatableModification(
          prepared: PreparedModification(modification), transaction: transaction
        )
        .run()
      }.recordOutcomes(
        for: [], in: modification.database, tags: transactions.context.changeTags)
      for (index, outcome) in zip(part.indexes, found) {
        outcomes[index] = part.naming.outward(outcome)
      }
    }
    return outcomes
  }
}

/// The operations of a request in a shared database on the zones of one owner.
private struct OwnerPart: Sendable {
  var indexes: [Int]
  var modification: RecordModification
  var naming: ZoneNaming
}

extension SharedDatabase {
  /// Groups the operations by owners, without those on zones that do not exist for the user.
  fileprivate func parts(of modification: RecordModification) throws -> [OwnerPart] {
    var zones: [ZoneID: SharedZone?] = [:]
    var parts: [DatabaseID: (naming: ZoneNaming, indexes: [Int])] = [:]
    for (index, operation) in modification.operations.enumerated() {
      let zoneID = operation.recordID.zoneID
      let zone = try zones[zoneID] ?? zone(zoneID)
      zones[zoneID] = .some(zone)
      guard let zone else { continue }
      parts[zone.database, default: (zone.naming, [])].indexes.append(index)
    }
    return parts.sorted { $0.key.rawValue < $1.key.rawValue }.map { database, content in
      let (naming, indexes) = content
      var part = modification
      part.database = database
      part.operations = indexes.map { naming.inward(modification.operations[$0]) }
      part.origin.userRecordName = user
      // An administrator acts as the user of the database.
      part.isByAdministrator = false
      return OwnerPart(indexes: indexes, modification: part, naming: naming)
    }
  }
}
