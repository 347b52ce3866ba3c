import CloudKitModel
import StoreModel

/// The check of the references of a record to be saved. It writes nothing.
struct ReferenceCheck {
  let database: DatabaseID
  let address: DatabaseAddress
  let zone: ZoneModification
  /// Nil unless the requester is a participant of the zone's shares.
  let shared: SharedZone?
  let transaction: StoreTransaction

  /// All targets must be in the zone of the record. A new parent must exist, and so must the target
  /// of a `validate` reference. The number of `deleteSelf` references to a target is limited.
  ///
  /// A participant of shared hierarchies must see the target of a new `deleteSelf` reference.
  /// Otherwise the deletion of the record would show when a hidden target is deleted.
  ///
  /// - Throws: ``ItemFailure``, or ``BlockedOperation`` for a missing target, which a later
  ///   operation of the request may create.
  func check(_ record: Record, named: [String], over current: StoredRecord?) throws {
    if let parent = record.parent, parent != current?.record.parent {
      guard parent.action == .none else {
        throw ItemFailure(
          .invalid, field: "parent",
          "'parent' of record '\(record.recordID)' has the action \(parent.action.rawValue); a parent "
            + "has the action NONE")
      }
      try checkZone(of: parent, field: "parent", of: record)
      try require(parent, field: "parent", of: record)
    }
    let targetsBefore = current?.record.deleteSelfTargets ?? []
    for name in named {
      guard let value = record.fields[name] else { continue }
      for reference in value.references {
        try checkZone(of: reference, field: name, of: record)
        switch reference.action {
        case .none:
          continue
        case .validate:
          try require(reference, field: name, of: record)
        case .deleteSelf:
          if !targetsBefore.contains(reference.recordName) {
            if let shared, shared.wholeZone == nil {
              try require(reference, field: name, of: record)
            }
            try checkEdgeCount(of: reference, field: name, of: record)
          }
        }
      }
    }
  }

  private func checkZone(
    of reference: Reference, field: String, of record: Record
  ) throws {
    guard let zoneID = reference.zoneID, address.canonical(zoneID) != zone.zoneID
    else { return }
    throw ItemFailure(
      .invalid, field: field,
      "'\(field)' of record '\(record.recordID)' points into zone '\(zoneID)'; a reference must stay "
        + "in its record's zone")
  }

  private func require(
    _ reference: Reference, field: String, of record: Record
  ) throws {
    let target = try RecordTable(transaction: transaction).number(
      of: reference.recordName, inZone: zone.zoneNumber, of: database)
    guard let target, try shared.map({ try $0.membership(ofRecord: target) != nil }) ?? true else {
      throw BlockedOperation.missingTarget(of: reference, field: field, of: record)
    }
  }

  /// The limit is `ServiceLimits.deleteSelfReferencesPerTarget` records for each target. For a
  /// participant, the records count that the participant sees.
  private func checkEdgeCount(
    of reference: Reference, field: String, of record: Record
  ) throws {
    let limit = ServiceLimits.deleteSelfReferencesPerTarget
    let count = try edgeCount(to: reference.recordName)
    guard count >= limit else { return }
    throw ItemFailure(
      .limitExceeded, field: field,
      "'\(field)' of record '\(record.recordID)' would be reference \(count + 1) with the "
        + "action DELETE_SELF to record '\(reference.recordName)'; the limit is \(limit)",
      limit: limit)
  }

  /// For a participant, twice the limit of records counts as the limit, so that the work has an
  /// end.
  private func edgeCount(to target: String) throws -> Int {
    let table = ReferenceTable(transaction: transaction)
    guard let shared, shared.wholeZone == nil else {
      return try table.count(to: target, inZone: zone.zoneNumber, of: database)
    }
    let limit = ServiceLimits.deleteSelfReferencesPerTarget
    let tops = try table.tops(
      ofHoldersTo: target, inZone: zone.zoneNumber, of: database, limit: 2 * limit)
    guard tops.count < 2 * limit else { return limit }
    let roots = Set(shared.memberships.map(\.root))
    return tops.count { roots.contains($0) }
  }
}

extension BlockedOperation {
  /// The target does not exist, or not for the requester.
  static func missingTarget(
    of reference: Reference, field: String, of record: Record
  ) -> BlockedOperation {
    BlockedOperation(
      recordNames: [reference.recordName],
      failure: ItemFailure(
        .referenceMissing, field: field,
        "'\(field)' of record '\(record.recordID)' points at record '\(reference.recordName)', "
          + "which does not exist; save it first or in the same request"))
  }
}
