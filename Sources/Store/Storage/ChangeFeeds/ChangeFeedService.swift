import CloudKitModel
import StoreModel

/// The change feeds of databases and zones. A database's feed has the zones that changed since a
/// change token, and a zone's feed has the records that changed since a change token. A change
/// token is a client's position in a feed (``ChangeToken``).
///
/// The store has no table of feeds. The service makes a page from the versions of zones and
/// records, and from tombstones: the rows that stay in place of deleted zones and records. Each
/// page is one read transaction, so it shows the store at one moment.
struct ChangeFeedService: ChangeFeedStore {
  let transactions: Transactions

  /// Returns a page of a zone's change feed; see ``RecordFeed``.
  ///
  /// In a shared database, the page has what the user sees of another user's zone; see also
  /// ``HierarchyFeed``. The limit is clamped to 0…200 (`ServiceLimits.recordsPerPage`). The zone ID may have the
  /// owner's user record name.
  ///
  /// - Throws: ``ItemFailure`` if the zone does not exist, was deleted, or has no feed;
  ///   ``StoreError/Code/changeTokenExpired`` for a token that is too old, or that is not from this
  ///   zone; ``StoreError/Code/badContinuation`` for a database's token, or for a token from a feed
  ///   in reverse order if the query is not reversed.
  func recordChanges(
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

  /// Returns a page of a database's change feed; see ``ZoneFeed``. The limit is clamped to 1…200
  /// (`ServiceLimits.recordsPerPage`).
  ///
  /// The mounts of a shared database are brought up to date first; see ``MountUpdate``.
  ///
  /// - Parameter token: the change token of the page before; nil begins with all zones.
  /// - Throws: ``StoreError/Code/changeTokenExpired`` for a token that is too old, or that is not
  ///   from this database; ``StoreError/Code/badContinuation`` for a zone's token.
  func zoneChanges(
    since token: String?, limit: Int, in database: DatabaseID, timestamp: Timestamp
  ) async throws -> ZoneChangesPage {
    try await updateMounts(in: database, at: timestamp)
    let limit = min(max(1, limit), ServiceLimits.recordsPerPage)
    return try await transactions.read { transaction in
      try ZoneFeed(since: token, limit: limit, in: database, transaction: transaction).page()
    }
  }

  /// Brings the mounts of a shared database up to date with the user's shares. The method does
  /// nothing in other databases, and in one that does not exist.
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
