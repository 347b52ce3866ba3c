import CloudKitModel
import StoreModel

/// The outcomes of the operations of one modification, in their order.
///
/// For records that were prepared outside of the transaction only the versions are stored here, so
/// that the single writer copies no record; ``recordOutcomes(for:in:tags:)`` combines them.
struct ModificationOutcomes: Sendable {
  /// The number of operations.
  private let count: Int
  /// The versions of the prepared records that were written, 0 for all other operations; empty
  /// before the first.
  private var versions: [Int64] = []
  /// The outcomes of the other operations; empty before the first.
  private var others: [RecordOutcome] = []

  /// Creates the outcomes of operations that were not reached yet. An operation without a later
  /// outcome counts as failed.
  init(count: Int) {
    self.count = count
  }

  /// Creates outcomes that are complete.
  init(_ outcomes: [RecordOutcome]) {
    count = outcomes.count
    others = outcomes
  }

  /// Notes that the operation's ``RecordCreation`` was written.
  ///
  /// - Parameters:
  ///   - version: the version of the new record, above 0.
  ///   - index: the index of the operation in the request.
  mutating func noteMade(version: Int64, at index: Int) {
    if versions.isEmpty { versions = [Int64](repeating: 0, count: count) }
    versions[index] = version
  }

  /// Notes the outcome of an operation. It replaces an earlier outcome, also that of a written
  /// ``RecordCreation``.
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

  /// Returns the outcomes for the caller, in the order of the operations. It runs outside of the
  /// transaction.
  ///
  /// - Parameters:
  ///   - creations: the prepared records of the modification.
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
