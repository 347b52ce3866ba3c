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
