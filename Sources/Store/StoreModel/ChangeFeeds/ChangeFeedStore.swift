import CloudKitModel

/// The change feeds of zones and databases: the changes since a client's last fetch. A change token
/// is the client's position in a feed.
public protocol ChangeFeedStore: Sendable {
  /// Returns a page of a zone's change feed: the changes of records since a change token.
  ///
  /// - A page has each record at most once: in its present state, or as deleted. The order is that
  ///   of the records' last changes, or the opposite order if the query asks for it. A page shows
  ///   the zone at one moment. A later page has the changes that are committed between two pages.
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/zoneNotFound`` or
  ///   ``ItemFailure/Code/zoneDeleted`` if there is no such zone. ``ItemFailure`` with
  ///   ``ItemFailure/Code/invalid`` for the default zone outside of the public database, unless the
  ///   caller is an administrator.
  /// - Throws: ``StoreError/Code/changeTokenExpired`` for a token of another zone, or if the store
  ///   has deleted the row of a deletion that is newer than the token.
  /// - Throws: ``StoreError/Code/badContinuation`` for a token of a database's feed, or for a token
  ///   of a reversed feed in a query that is not reversed.
  func recordChanges(
    matching query: RecordChangesQuery, in database: DatabaseID
  ) async throws -> RecordChangesPage
  /// Returns a page of a database's change feed: the zones that changed or were deleted since a
  /// change token. The default zone is left out. Each zone appears once, in the order of the zones'
  /// last changes.
  ///
  /// - Parameters:
  ///   - token: the token of the previous page; nil begins with all zones.
  ///   - limit: the most zones in the page, 1 to 200. Other numbers count as the nearest of these.
  ///   - timestamp: the time of the request. In a shared database, it is the time at which the feed
  ///     notes that zones are not shared any more.
  /// - Throws: ``StoreError/Code/changeTokenExpired`` for a token of another database, or if the
  ///   store has deleted the row of a deletion that is newer than the token.
  ///   ``StoreError/Code/badContinuation`` for a token of a zone's feed.
  func zoneChanges(
    since token: String?, limit: Int, in database: DatabaseID, timestamp: Timestamp
  ) async throws -> ZoneChangesPage
}
