import CloudKitModel

/// The changes of a zone or a database since a client's last fetch.
public protocol ChangeFeedStore: Sendable {
  /// Returns the changes of a zone's records since a change token.
  ///
  /// - Each record appears once, with its latest state or as deleted, in the order of the last
  ///   changes (or the opposite order). A page shows one state of the zone. A change that is
  ///   committed between two pages comes on a later page, or after the last.
  /// - Throws ``ItemFailure``: ``ItemFailure/Code/zoneNotFound``, ``ItemFailure/Code/zoneDeleted``,
  ///   and ``ItemFailure/Code/invalid`` for the default zone, which has a feed only in the public
  ///   database.
  /// - Throws ``StoreError/Code/changeTokenExpired`` if deletions that the token's owner has not
  ///   seen are no longer kept.
  /// - Throws ``StoreError/Code/badContinuation`` for a token of the database's feed, or for a
  ///   token of a reversed feed in a forward query.
  func recordChanges(
    matching query: RecordChangesQuery, in database: DatabaseID
  ) async throws -> RecordChangesPage
  /// Returns the zones that changed or were deleted since a change token, except the default zone.
  /// Each appears once, in the order of the last changes.
  ///
  /// - Parameters:
  ///   - token: the token of the previous page; nil begins with all zones.
  ///   - limit: the most zones in the page.
  /// - Throws: ``StoreError/Code/changeTokenExpired``, and ``StoreError/Code/badContinuation`` for
  ///   a token of a zone's feed.
  func zoneChanges(
    since token: String?, limit: Int, in database: DatabaseID
  ) async throws -> ZoneChangesPage
}
