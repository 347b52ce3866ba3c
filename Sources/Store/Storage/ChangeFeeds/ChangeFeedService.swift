import CloudKitModel
import StoreModel

/// The change feeds of zones and databases: the changes since a client's last fetch. A change token
/// is the client's position in a feed.
///
/// The store has no table of feeds. The service makes a page from the versions of zones and
/// records, and from tombstones: the rows that stay in place of deleted zones and records. Each
/// page is one read transaction, so it shows the store at one moment.
public struct ChangeFeedService: Sendable {
  let transactions: Transactions

  /// Returns a page of a zone's change feed: the changes of records since a change token.
  ///
  /// - A page has each record at most once: in its present state, or as deleted. The order is that
  ///   of the records' last changes, or the opposite if the query asks for it. A later page also
  ///   has the changes that are committed between two pages.
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/zoneNotFound`` or
  ///   ``ItemFailure/Code/zoneDeleted`` if there is no such zone. ``ItemFailure`` with
  ///   ``ItemFailure/Code/invalid`` for the default zone outside of the public database, unless the
  ///   caller is an administrator.
  /// - Throws: ``StoreError/Code/changeTokenExpired`` for a token of another zone, or if the store
  ///   has deleted the row of a deletion that is newer than the token.
  /// - Throws: ``StoreError/Code/badContinuation`` for a token of a database's feed, or for a token
  ///   of a reversed feed in a query that is not reversed.
  public func recordChanges(
    matching query: RecordChangesQuery, in database: DatabaseID
  ) async throws -> RecordChangesPage {
    try await transactions.read { transaction in
      var query = query
      query.limit = min(max(0, query.limit), ServiceLimits.recordsPerPage)
      let zone = try SharedDatabase.at(database, in: transaction)?.existingZone(query.zoneID)
      let database = zone?.database ?? database
      let address = try DatabaseTable(transaction: transaction).address(of: database)
      if let zone, zone.wholeZone == nil {
        var feed = try HierarchyFeed(query, of: zone, at: address, transaction: transaction)
        return try feed.page()
      }
      query.zoneID = zone?.naming.inward(query.zoneID) ?? address.canonical(query.zoneID)
      return try RecordFeed(
        query, in: database, at: address, shared: zone, transaction: transaction
      ).page()
    }
  }

  /// Returns the zones of a database that changed or were deleted since a change token, without the
  /// default zone. Each zone appears once, in the order of the zones' last changes.
  ///
  /// - Parameters:
  ///   - token: the token of the previous page; nil begins with all zones.
  ///   - limit: 1 to 200; other numbers count as the nearest of these.
  ///   - timestamp: the time at which the feed of a shared database notes that zones are not shared
  ///     any more.
  /// - Throws: ``StoreError/Code/changeTokenExpired`` for a token of another database, or if the
  ///   store has deleted the row of a deletion that is newer than the token.
  ///   ``StoreError/Code/badContinuation`` for a token of a zone's feed.
  ///   ``StoreError/Code/notFound`` if there is no such database.
  public func zoneChanges(
    since token: String?, limit: Int, in database: DatabaseID, timestamp: Timestamp
  ) async throws -> ZoneChangesPage {
    try await updateMounts(in: database, at: timestamp)
    let limit = min(max(1, limit), ServiceLimits.recordsPerPage)
    return try await transactions.read { transaction in
      try ZoneFeed(since: token, limit: limit, in: database, transaction: transaction).page()
    }
  }

  private func updateMounts(in database: DatabaseID, at timestamp: Timestamp) async throws {
    guard database != .vacant else { return }
    let isOld = try await transactions.read { transaction in
      try SharedDatabase.at(database, in: transaction).map {
        try !MountUpdate(of: $0, database).isEmpty
      } ?? false
    }
    guard isOld else { return }
    try await transactions.write(locking: .database(database)) { transaction in
      guard let shared = try SharedDatabase.at(database, in: transaction) else { return }
      try MountUpdate(of: shared, database).write(at: timestamp)
    }
  }
}

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
