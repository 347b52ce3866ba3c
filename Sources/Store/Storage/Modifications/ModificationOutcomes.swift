import CloudKitModel
import StoreModel

/// The outcomes of the operations of one modification, in their order.
///
/// For a record that was prepared outside of the transaction (``RecordCreation``), only the version
/// is stored here, so that the single writer need not copy the record.
/// ``recordOutcomes(for:in:tags:)`` makes the complete outcomes.
struct ModificationOutcomes: Sendable {
  private let count: Int
  /// 0 for an operation without a written prepared record. Empty until the first one is written.
  private var versions: [Int64] = []
  private var others: [RecordOutcome] = []

  /// An operation that never gets an outcome counts as failed.
  init(count: Int) {
    self.count = count
  }

  init(_ outcomes: [RecordOutcome]) {
    count = outcomes.count
    others = outcomes
  }

  mutating func noteMade(version: Int64, at index: Int) {
    if versions.isEmpty { versions = [Int64](repeating: 0, count: count) }
    versions[index] = version
  }

  /// A later outcome replaces an earlier one of the same operation.
  mutating func note(_ outcome: RecordOutcome, at index: Int) {
    if others.isEmpty {
      others = [RecordOutcome](repeating: Self.notReached, count: count)
    }
    if !versions.isEmpty { versions[index] = 0 }
    others[index] = outcome
  }

  /// Also true for an operation that was not reached.
  func isFailure(at index: Int) -> Bool {
    if !versions.isEmpty, versions[index] > 0 { return false }
    return others.isEmpty || others[index].isFailure
  }

  func failure(at index: Int) -> ItemFailure? {
    guard !others.isEmpty, case .failed(let failure) = others[index] else { return nil }
    return failure
  }

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

  private static let notReached = RecordOutcome.failed(
    ItemFailure(.atomic, "the request failed before the server reached this operation"))
}
