import CloudKitModel
import StoreModel

extension RecordModifier {
  /// Checks that the requester may carry out an operation on a record, or create one if there is
  /// none.
  func checkAccess(of operation: RecordOperation, to current: Record?) throws {
    guard modification.appliesGrants, address.scope == .public else { return }
    if operation.kind == .create || current == nil {
      guard operation.kind.mayCreate, let type = operation.recordType else { return }
      guard !(try access(toType: type).mayCreate) else { return }
      throw ItemFailure(
        .accessDenied,
        "record '\(operation.recordID)' cannot be made: no role of this caller has CREATE for record "
          + "type '\(type)'")
    }
    guard let current, !(try access(toType: current.recordType).mayWrite(current)) else { return }
    throw ItemFailure(
      .accessDenied,
      "record '\(operation.recordID)' cannot be changed or deleted: no role of this caller has WRITE "
        + "for it; by default only the user who created a record has")
  }

  /// The failure without its record, if the requester may not read that record.
  func veiled(_ failure: ItemFailure) throws -> ItemFailure {
    guard modification.appliesGrants, let record = failure.serverRecord,
      !(try access(toType: record.recordType).mayRead(record))
    else { return failure }
    var failure = failure
    failure.serverRecord = nil
    return failure
  }

  private func access(toType name: String) throws -> RecordAccess {
    try RecordAccess(
      of: modification.origin.userRecordName, toType: name, at: address, in: transaction)
  }
}

extension RecordOperation.Kind {
  /// Whether the operation creates a missing record.
  fileprivate var mayCreate: Bool {
    switch self {
    case .create, .forceUpdate, .forceReplace: true
    case .update, .replace, .delete, .forceDelete: false
    }
  }
}
