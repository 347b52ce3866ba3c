import CloudKitModel
import StoreModel

extension RecordModifier {
  /// Checks that the requester may carry out an operation: create a record if there is none,
  /// otherwise change or delete the stored one.
  ///
  /// - Parameter current: the stored record; nil if there is none.
  ///
  /// - Throws: ``ItemFailure/Code/accessDenied``, with the reason as text.
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

  /// Returns the failure. If it carries a record that the requester may not read, the record is
  /// removed.
  func veiled(_ failure: ItemFailure) throws -> ItemFailure {
    guard let record = failure.serverRecord,
      try access(toType: record.recordType).refusal(ofReading: record) != nil
    else { return failure }
    var failure = failure
    failure.serverRecord = nil
    return failure
  }

  /// Returns the rights of the requester for records of a type.
  private func access(toType name: String) throws -> RecordAccess {
    try AccessPolicy.access(of: modification.caller, toType: name, at: address, in: transaction)
  }
}

extension RecordOperation.Kind {
  /// Whether the operation creates the record if there is none.
  fileprivate var mayCreate: Bool {
    switch self {
    case .create, .forceUpdate, .forceReplace: true
    case .update, .replace, .delete, .forceDelete: false
    }
  }
}
