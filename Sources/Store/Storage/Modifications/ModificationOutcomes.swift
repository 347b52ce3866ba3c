import CloudKitModel
import StoreModel

/// The outcomes of the operations of one modification, in their order.
///
/// For a record that was prepared outside of the transaction (``RecordCreation``), only the version
/// is stored here, so that the single writer need not copy the record. The method
/// ``recordOutcomes(for:in:tags:)`` makes the complete outcomes.
struct ModificationOutcomes: Sendable {
  /// The number of operations.
  private let count: Int
  /// For each operation the version of its prepared record, if it was written; 0 for all other
  /// operations. The array is empty until the first prepared record is written.
  private var versions: [Int64] = []
  /// For each operation its outcome, unless ``versions`` has it. The array is empty until the first
  /// such outcome is noted.
  private var others: [RecordOutcome] = []

  /// Creates outcomes for `count` operations, none of which has been carried out. An operation that
  /// never gets an outcome counts as failed.
  init(count: Int) {
    self.count = count
  }

  /// Creates complete outcomes, one for each operation.
  init(_ outcomes: [RecordOutcome]) {
    count = outcomes.count
    others = outcomes
  }

  /// Notes that the prepared record of an operation was written.
  ///
  /// - Parameters:
  ///   - version: the version of the new record, above 0.
  ///   - index: the index of the operation in the request.
  mutating func noteMade(version: Int64, at index: Int) {
    if versions.isEmpty { versions = [Int64](repeating: 0, count: count) }
    versions[index] = version
  }

  /// Notes the outcome of an operation. A later outcome replaces an earlier one of the same
  /// operation, even if a prepared record was written.
  mutating func note(_ outcome: RecordOutcome, at index: Int) {
    if others.isEmpty {
      others = [RecordOutcome](repeating: Self.notReached, count: count)
    }
    if !versions.isEmpty { versions[index] = 0 }
    others[index] = outcome
  }

  /// Returns whether an operation failed or was not reached.
  func isFailure(at index: Int) -> Bool {
    if !versions.isEmpty, versions[index] > 0 { return false }
    return others.isEmpty || others[index].isFailure
  }

  /// Returns the failure of an operation; nil if it succeeded or was not reached.
  func failure(at index: Int) -> ItemFailure? {
    guard !others.isEmpty, case .failed(let failure) = others[index] else { return nil }
    return failure
  }

  /// Returns the outcomes for the caller, in the order of the operations. ``RecordService`` calls
  /// the method outside of the transaction; for a request with an ID, ``RepeatableModification``
  /// calls it inside.
  ///
  /// - Parameters:
  ///   - creations: the prepared record of each operation; nil for an operation without one.
  ///   - database: the database of the records.
  ///   - tags: makes the records' change tags from their versions.
  func recordOutcomes(
    for creations: [RecordCreation?], in database: DatabaseID, tags: ChangeTags
  ) -> [RecordOutcome] {
    guard !versions.isEmpty else {
      return others.isEmpty ? [RecordOutcome](repeating: Self.notReached, count: count) : others
    }
    return versions.indices.map { index in
      if versions[index] > 0, let creation = creations[index] {
        let tag = tags.tag(ofVersion: versions[index], in: database)
        return .saved(creation.record(taggedWith: tag))
      }
      return others.isEmpty ? Self.notReached : others[index]
    }
  }

  /// The outcome of an operation that was not reached.
  private static let notReached = RecordOutcome.failed(
    ItemFailure(.atomic, "the request failed before the server reached this operation"))
}
