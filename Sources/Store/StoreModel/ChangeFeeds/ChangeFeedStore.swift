import CloudKitModel

/// What changed in a zone or a database since a client asked last.
public protocol ChangeFeedStore: Sendable {
  /// What became of a zone's records since a change token.
  ///
  /// - Each record appears once, with its latest state or as deleted, in the order of the last
  ///   changes (or the opposite one). A page shows one state of the zone; what is committed while a
  ///   client goes from page to page comes on a later page, or after the last.
  /// - Throws ``ItemFailure``: ``ItemFailure/Code/zoneNotFound``, ``ItemFailure/Code/zoneDeleted``,
  ///   and ``ItemFailure/Code/invalid`` for the default zone, which has no feed but in the public
  ///   database; and
  ///   ``StoreError/Code/changeTokenExpired``, and ``StoreError/Code/badContinuation`` for a token of
  ///   the database's feed, or of a feed in reverse that is asked for in order.
  func recordChanges(
    matching query: RecordChangesQuery, in database: DatabaseID
  ) async throws -> RecordChangesPage
  /// Which zones but the default zone changed or were deleted since a change token, each once, in
  /// the order of their last changes.
  ///
  /// - Throws: ``StoreError/Code/changeTokenExpired``, and ``StoreError/Code/badContinuation`` for a
  ///   token of a zone's feed.
  func zoneChanges(
    since token: String?, limit: Int, in database: DatabaseID
  ) async throws -> ZoneChangesPage
}
