import CloudKitModel
import StoreModel

/// A request to change records in the writer's transaction. If the client repeats it with the same
/// ID, no operation that succeeded is carried out again.
struct RepeatableModification {
  let prepared: PreparedModification
  let transaction: StoreTransaction

  /// The transaction also stores which operations succeeded, but not the outcomes: for a repeated
  /// request, the saved records are read again.
  ///
  /// - Returns: an outcome for each operation. If the ID was used with another number of
  ///   operations, nothing is carried out and each is ``ItemFailure/Code/invalid``.
  func run() throws -> ModificationOutcomes {
    let modification = prepared.request
    guard let name = AnsweredRequest(of: modification) else { return try modify(prepared) }
    let requests = AnsweredRequestTable(transaction: transaction)
    let operations = modification.operations
    var done =
      try requests.done(in: name) ?? [UInt8](repeating: 0, count: operations.count)
    guard done.count == operations.count else {
      let failure = ItemFailure(
        .invalid, field: "requestID",
        "request ID '\(name.requestID)' was used for a request of \(done.count) operations; this one "
          + "has \(operations.count)")
      return ModificationOutcomes(operations.map { _ in .failed(failure) })
    }
    let remaining = operations.indices.filter { done[$0] == 0 }
    var rest = prepared
    rest.request.operations = remaining.map { operations[$0] }
    if !prepared.creations.isEmpty {
      rest.creations = remaining.map { prepared.creations[$0] }
    }
    var fresh =
      (remaining.isEmpty
      ? []
      : try modify(rest).recordOutcomes(
        for: rest.creations, in: modification.database, tags: transaction.context.changeTags))[...]
    let outcomes = try operations.indices.map { index in
      guard done[index] == 0, let outcome = fresh.popFirst() else {
        return try repeatedOutcome(of: operations[index], in: modification)
      }
      if !outcome.isFailure { done[index] = 1 }
      return outcome
    }
    guard done.contains(1), !remaining.isEmpty else { return ModificationOutcomes(outcomes) }
    requests.keep(done, of: name, at: modification.timestamp)
    return ModificationOutcomes(outcomes)
  }

  private func modify(_ modification: PreparedModification) throws -> ModificationOutcomes {
    var change = try RecordModifier(modification, transaction: transaction)
    return try change.run()
  }

  /// A save that an earlier attempt carried out has the record as it is now. It is
  /// ``ItemFailure/Code/notFound`` if the record was deleted since, and
  /// ``ItemFailure/Code/accessDenied`` if the caller may no longer read it.
  private func repeatedOutcome(
    of operation: RecordOperation, in modification: RecordModification
  ) throws -> RecordOutcome {
    let database = modification.database
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    var recordID = operation.recordID
    recordID.zoneID = address.canonical(recordID.zoneID)
    switch operation.kind {
    case .delete, .forceDelete:
      return .deleted(recordID)
    case .create, .update, .replace, .forceUpdate, .forceReplace:
      if let zoneNumber = try ZoneTable(transaction: transaction).number(
        of: recordID.zoneID, in: database),
        let stored = try RecordTable(transaction: transaction).record(
          named: recordID.recordName, inZone: zoneNumber, of: database)
      {
        if modification.isByParticipant(at: address) {
          return try participantsOutcome(of: stored, in: modification, at: address)
        }
        // Another user may have created a record of that name since, and grants may have changed.
        let access = try AccessPolicy.access(
          of: modification.caller, toType: stored.record.recordType, at: address, in: transaction)
        if let refusal = access.refusal(ofReading: stored.record) {
          return .failed(
            ItemFailure(
              .accessDenied,
              "record '\(recordID)' was saved, but can no longer be read: \(refusal.reason())"))
        }
        var saved = stored.record
        if operation.createsShortGUID {
          let links = ShareLinkTable(transaction: transaction)
          saved.shortGUID = try links.number(
            ofRoot: stored.number, inZone: zoneNumber, of: database
          ).map { try links.shortGUID(of: $0, in: database) }
        }
        return .saved(saved)
      }
      return .failed(
        ItemFailure(.notFound, "record '\(recordID)' was saved, and has been deleted since"))
    }
  }

  private func participantsOutcome(
    of stored: StoredRecord, in modification: RecordModification, at address: DatabaseAddress
  ) throws -> RecordOutcome {
    let recordID = stored.record.recordID
    let zone = try SharedZone(
      number: stored.zoneNumber, named: recordID.zoneID.zoneName, in: modification.database,
      ownedBy: address.owner ?? "", for: modification.origin.userRecordName,
      transaction: transaction)
    guard let zone, let membership = try zone.membership(ofRecord: stored.number) else {
      return .failed(
        ItemFailure(.notFound, "record '\(recordID)' was saved, and is not shared any more"))
    }
    return .saved(zone.veiled(stored.record, number: stored.number, in: membership))
  }
}
