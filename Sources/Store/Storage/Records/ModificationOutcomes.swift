import CloudKitModel
import StoreModel

/// What became of the operations of one modification, in their order.
///
/// Of records that were made ready outside of the transaction only their versions are kept here, so
/// that the one thread that writes copies no record; ``told(by:in:tags:)`` puts them together.
struct ModificationOutcomes: Sendable {
  private let count: Int
  /// The versions of records that were made of what was ready, 0 for all other operations; empty
  /// before the first.
  private var versions: [Int64] = []
  /// What became of the other operations; empty before the first.
  private var others: [RecordOutcome] = []

  /// The outcomes of operations of which none was reached.
  init(count: Int) {
    self.count = count
  }

  init(_ outcomes: [RecordOutcome]) {
    count = outcomes.count
    others = outcomes
  }

  /// Notes that the operation's ``RecordCreation`` was written.
  mutating func noteMade(version: Int64, at index: Int) {
    if versions.isEmpty { versions = [Int64](repeating: 0, count: count) }
    versions[index] = version
  }

  mutating func note(_ outcome: RecordOutcome, at index: Int) {
    if others.isEmpty {
      others = [RecordOutcome](repeating: Self.notReached, count: count)
    }
    if !versions.isEmpty { versions[index] = 0 }
    others[index] = outcome
  }

  func isFailure(at index: Int) -> Bool {
    if !versions.isEmpty, versions[index] > 0 { return false }
    return others.isEmpty || others[index].isFailure
  }

  /// The outcomes for the caller.
  ///
  /// - Parameters:
  ///   - creations: those that the modification had.
  ///   - database: in which the records are.
  func told(
    by creations: [RecordCreation?], in database: DatabaseID, tags: ChangeTags
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
    ItemFailure(.atomic, "the operation was not reached"))
}
