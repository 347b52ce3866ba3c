import CloudKitModel
import StoreModel

/// Operations of a participant on the records of the owner.
extension RecordModifier {
  var isByParticipant: Bool { modification.isByParticipant(at: address) }

  func sharedZone(_ zoneID: ZoneID, number: Int64) throws -> SharedZone? {
    try SharedZone(
      number: number, named: zoneID.zoneName, in: database, ownedBy: address.owner ?? "",
      for: modification.origin.userRecordName, transaction: transaction)
  }

  func missing(_ zoneID: ZoneID) throws -> ItemFailure {
    guard isByParticipant else {
      return try ZoneTombstoneTable(transaction: transaction).missing(
        zoneID, in: database, at: address,
        address.scope == .shared ? SharedDatabase.advice : "create it first")
    }
    return .noZone(ZoneID(zoneName: zoneID.zoneName, ownerName: address.owner ?? ""))
  }

  /// - Parameter operation: has the names of the owner's rows.
  /// - Throws: ``ItemFailure`` or ``BlockedOperation`` if the operation fails.
  mutating func perform(
    _ operation: RecordOperation, on current: StoredRecord?, asParticipantOf shared: SharedZone,
    in zone: ZoneModification
  ) throws -> RecordOutcome {
    guard let current else { return try create(operation, asParticipantOf: shared, in: zone) }
    guard let membership = try shared.membership(ofRecord: current.number) else {
      // For the participant, the record does not exist. Its name is taken all the same.
      guard case .save = try operation.decision(on: nil, in: modification) else {
        return .deleted(operation.recordID)
      }
      throw ItemFailure(
        .accessDenied,
        "record '\(operation.recordID)' cannot be created: the name cannot be used here")
    }
    let seen = shared.veiled(current.record, number: current.number, in: membership)
    switch try operation.decision(on: seen, in: modification) {
    case .nothing:
      return .deleted(operation.recordID)
    case .delete:
      if current.number == membership.share {
        try writer.leave(membership)
        self.shared = try sharedZone(zone.zoneID, number: zone.zoneNumber)
      } else {
        try membership.check(
          membership.kind(ofRecord: current.number).deletion, on: operation.recordID)
        try delete(current)
      }
      return .deleted(operation.recordID)
    case .save(var record):
      record.created = current.record.created
      let kind = membership.kind(ofRecord: current.number)
      let isShare = kind == .share
      try membership.check(isShare ? .changeShare : .write, on: record.recordID)
      // Otherwise the record could be deleted by the deletion of another one.
      if !record.deleteSelfTargets.isSubset(of: current.record.deleteSelfTargets) {
        try membership.check(kind.deletion, on: record.recordID)
      }
      if kind == .root {
        guard record.parent == nil else {
          throw refusal(of: .writeOutside, record, membership)
        }
        record.parent = current.record.parent
      } else if record.parent != current.record.parent {
        try checkPlace(of: record, in: shared)
      }
      let saved = try save(
        record, named: operation.fields.keys, over: current, in: zone)
      if isShare { self.shared = try sharedZone(zone.zoneID, number: zone.zoneNumber) }
      return .saved(shared.veiled(saved, number: current.number, in: membership))
    }
  }

  private mutating func create(
    _ operation: RecordOperation, asParticipantOf shared: SharedZone, in zone: ZoneModification
  ) throws -> RecordOutcome {
    switch try operation.decision(on: nil, in: modification) {
    case .nothing, .delete:
      return .deleted(operation.recordID)
    case .save(let record):
      do {
        // The record of a user is in the user's own databases, so its name is reserved here.
        try record.recordID.validate()
      } catch {
        throw ItemFailure(error)
      }
      if let membership = shared.memberships.first, record.recordType == ShareContent.recordType {
        throw refusal(of: .createShare, record, membership)
      }
      try checkPlace(of: record, in: shared)
      return .saved(
        try save(record, named: operation.fields.keys, over: nil, in: zone))
    }
  }

  private func checkPlace(of record: Record, in shared: SharedZone) throws {
    if let membership = shared.wholeZone {
      return try membership.check(.write, on: record.recordID)
    }
    guard let parent = record.parent else {
      guard let membership = shared.memberships.first else { return }
      throw refusal(of: .writeOutside, record, membership)
    }
    let number = try RecordTable(transaction: transaction).number(
      of: parent.recordName, inZone: shared.number, of: database)
    guard let number, let membership = try shared.membership(ofRecord: number) else {
      throw BlockedOperation.missingTarget(of: parent, field: "parent", of: record)
    }
    try membership.check(.write, on: record.recordID)
  }

  private func refusal(
    of action: ParticipantAction, _ record: Record, _ membership: ZoneMembership
  ) -> ItemFailure {
    do throws(ItemFailure) {
      try membership.check(action, on: record.recordID)
    } catch {
      return error
    }
    return ItemFailure(.accessDenied, "record '\(record.recordID)' cannot be saved or deleted")
  }
}

extension RecordModification {
  /// Whether the requester is not the owner of a private database, and acts as a participant of its
  /// shares.
  func isByParticipant(at address: DatabaseAddress) -> Bool {
    address.scope == .private && !isByAdministrator && origin.userRecordName != address.owner
  }
}
