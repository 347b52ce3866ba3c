import CloudKitModel
import SQLEngine
import StoreModel

extension ChangeFeedService {
  /// Deletes old tombstones of records and zones, the rows of records that left shared hierarchies
  /// (``DepartureTable``), and client change tokens.
  ///
  /// The write that deletes tombstones also raises the `trimmed_version` of their zone or database.
  /// Change tokens from before that version then expire. Each write has one database and at most
  /// ``Retention/batch`` rows. If a write fails, the earlier ones stay committed.
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
    for cut in try await transactions.read({
      try DepartureTable(transaction: $0).old(before: horizon)
    }) {
      try await transactions.write(locking: .database(DatabaseID(rawValue: cut.database))) {
        try DepartureTable(transaction: $0).trim(through: cut)
      }
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
