import CloudKitModel

/// The outcome of one record operation.
public enum RecordOutcome: Sendable, Hashable {
  /// The record as it was saved, with its new change tag.
  case saved(Record)
  /// The record was deleted.
  case deleted(RecordID)
  /// The store refused the operation.
  case failed(ItemFailure)

  /// Whether the store refused the operation.
  package var isFailure: Bool {
    if case .failed = self { return true }
    return false
  }
}
