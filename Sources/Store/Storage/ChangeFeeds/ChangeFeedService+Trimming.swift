import CloudKitModel
import SQLEngine
import StoreModel

extension ChangeFeedService {
  /// Deletes tombstones and client change tokens from before `horizon`.
  ///
  /// The same write expires change tokens from before a deleted tombstone.
  ///
  /// Each write concerns one database and deletes at most ``Retention/batch`` tombstones. A
  /// deletion stays when a later one fails.
  ///
  /// - Parameter horizon: tombstones of deletions before this time are deleted, and tokens saved
  ///   before it.
  func trimChangeFeeds(before horizon: Timestamp) async throws {
    let horizon = horizon.milliseconds
    for cut in try await transactions.read({
      try TombstoneTable(transaction: $0).old(before: horizon)
    }) {
      let database = DatabaseID(rawValue: cut.database)
      while try await transactions.write(
        locking: .database(database), { try TombstoneTable(transaction: $0).trim(through: cut) })
      {}
    }
    let forgotten = try await transactions.read {
      try ZoneTombstoneTable(transaction: $0).old(before: horizon)
    }
    try await transactions.inEachDatabase(of: forgotten) {
      try ZoneTombstoneTable(transaction: $0).trim(through: $1)
    }
    try await transactions.inBatches(
      { try ClientChangeTokenTable(transaction: $0).old(before: horizon) },
      drop: { try ClientChangeTokenTable(transaction: $0).drop($1) })
  }
}
