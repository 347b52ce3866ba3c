import CloudKitModel
import StoreModel

/// The change feeds: the zones of a database that changed since a token, and the records of a zone
/// that changed since a token.
///
/// A feed is no table. The service makes a feed from the versions of zones and records, and from
/// tombstones. A page is one read transaction, so it shows the store at one moment.
struct ChangeFeedService: ChangeFeedStore {
  let transactions: Transactions

  /// Returns a page of a zone's change feed; see ``RecordFeed``.
  ///
  /// The limit is clamped to 0…200 (`ServiceLimits.recordsPerPage`). The zone may be named with its
  /// owner's record name.
  ///
  /// - Throws: ``ItemFailure`` if the zone does not exist, was deleted, or has no feed;
  ///   ``StoreError/Code/changeTokenExpired`` or ``StoreError/Code/badContinuation`` for a token
  ///   that does not fit.
  func recordChanges(
    matching query: RecordChangesQuery, in database: DatabaseID
  ) async throws -> RecordChangesPage {
    try await transactions.read { transaction in
      let address = try DatabaseTable(transaction: transaction).address(of: database)
      var query = query
      query.zoneID = address.canonical(query.zoneID)
      query.limit = min(max(0, query.limit), ServiceLimits.recordsPerPage)
      return try RecordFeed(query, in: database, at: address, transaction: transaction).page()
    }
  }

  /// Returns a page of a database's change feed; see ``ZoneFeed``. The limit is clamped to 1…200
  /// (`ServiceLimits.recordsPerPage`).
  ///
  /// - Parameter token: the reader's position; nil begins with all zones.
  /// - Throws: ``StoreError/Code/changeTokenExpired`` or ``StoreError/Code/badContinuation`` for a
  ///   token that does not fit.
  func zoneChanges(
    since token: String?, limit: Int, in database: DatabaseID
  ) async throws -> ZoneChangesPage {
    let limit = min(max(1, limit), ServiceLimits.recordsPerPage)
    return try await transactions.read { transaction in
      try ZoneFeed(since: token, limit: limit, in: database, transaction: transaction).page()
    }
  }
}
