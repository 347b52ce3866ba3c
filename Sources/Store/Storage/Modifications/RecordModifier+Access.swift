import CloudKitModel
import StoreModel

extension RecordModifier {
  func checkAccess(of operation: RecordOperation, to current: Record?) throws {
    if operation.kind == .create || current == nil {
      guard operation.kind.mayCreate, let type = operation.recordType,
        let refusal = try access(toType: type).refusal(ofCreating: type)
      else { return }
      throw ItemFailure(
        .accessDenied, "record '\(operation.recordID)' cannot be created: \(refusal.reason())")
    }
    guard let current,
      let refusal = try access(toType: current.recordType).refusal(ofWriting: current)
    else { return }
    throw ItemFailure(
      .accessDenied,
      "record '\(operation.recordID)' cannot be changed or deleted: \(refusal.reason())")
  }

  func veiled(_ failure: ItemFailure) throws -> ItemFailure {
    guard let record = failure.serverRecord,
      try access(toType: record.recordType).refusal(ofReading: record) != nil
    else { return failure }
    var failure = failure
    failure.serverRecord = nil
    return failure
  }

  private func access(toType name: String) throws -> RecordAccess {
    try AccessPolicy.access(of: modification.caller, toType: name, at: address, in: transaction)
  }
}

extension RecordOperation.Kind {
  fileprivate var mayCreate: Bool {
    switch self {
    case .create, .forceUpdate, .forceReplace: true
    case .update, .replace, .delete, .forceDelete: false
    }
  }
}

/// The records of a database that the requester of a modification may delete.
///
/// A deletion also deletes the records that refer to the deleted one by `deleteSelf`, but only
/// those that the requester could delete directly, whoever made the references. A record beyond
/// these stays as it is: its reference leads to no record then, like that to a target which was
/// never saved. So the requester learns nothing about a record that is out of reach.
struct DeletionRights {
  let caller: Caller
  let address: DatabaseAddress
  /// Nil unless the requester is a participant of the zone's shares.
  let shared: SharedZone?
  let transaction: StoreTransaction

  func mayDelete(_ stored: StoredRecord) throws -> Bool {
    guard address.scope == .public else { return try mayDelete(privateRecord: stored.number) }
    let access = try AccessPolicy.access(
      of: caller, toType: stored.record.recordType, at: address, in: transaction)
    return access.refusal(ofWriting: stored.record) == nil
  }

  func mayDelete(privateRecord number: Int64) throws -> Bool {
    guard let shared else { return true }
    return try shared.membership(ofRecord: number)?.mayDelete(number) ?? false
  }
}
