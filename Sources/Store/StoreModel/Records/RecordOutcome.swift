import CloudKitModel

/// The outcome of one record operation.
public enum RecordOutcome: Sendable, Hashable {
  case saved(Record)
  case deleted(RecordID)
  case failed(ItemFailure)

  package var isFailure: Bool {
    if case .failed = self { return true }
    return false
  }
}
