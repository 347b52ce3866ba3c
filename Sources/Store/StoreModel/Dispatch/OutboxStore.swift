import CloudKitModel

/// The interface between the store and the dispatcher. The store passes committed changes to the
/// dispatcher. The dispatcher matches them against subscriptions, and the store then writes the
/// notifications and deliveries.
///
/// The changes are passed in memory, but they are also in a table, the outbox. A change waits in
/// the outbox until ``completeDispatch(of:timestamp:leasing:)`` has written its effects. After a
/// crash, the dispatcher reads the waiting changes from the outbox.
public protocol OutboxStore: OutboxReading {
  /// Sets the handler that gets the changes of each commit, in the order of the commits; nil
  /// removes the handler. A writing thread calls the handler, which must not block. If the handler
  /// loses changes, the dispatcher can read them from the outbox.
  func setCommitHandler(_ handler: (@Sendable ([OutboxEntry]) -> Void)?)
  /// Sets the handler that is called after a commit with an unknown outcome, such as after a lost
  /// connection to the database server; nil removes the handler. A writing thread calls the handler
  /// when the commit has either succeeded or failed for certain. The commit handler has not got the
  /// changes of this commit: they are in the outbox, or were rolled back. The handler must not
  /// block.
  func setDoubtHandler(_ handler: (@Sendable () -> Void)?)
  /// Returns the changes that are to be forwarded to participants of shares, and the subscriptions
  /// that they fire there.
  ///
  /// Who takes part is read after the commits of the changes. So nobody gets a change that was
  /// committed after the end of the part. The changes have no fields of records, and the names that
  /// the participant sees.
  ///
  /// - Parameters:
  ///   - entries: changes of one private database, in the order of their numbers.
  ///   - earlier: the undispatched changes before `entries`, which were forwarded before.
  /// - Returns: an array for each participant whose subscriptions fire, to be passed to
  ///   ``completeDispatch(of:timestamp:leasing:)``. A change that was forwarded before is left out
  ///   there.
  /// - Throws: ``StoreError/Code/outOfOrder`` if earlier changes of the database wait that are in
  ///   neither array. The store only remembers the last change that a participant got, so these
  ///   changes would be left out later.
  func forwards(
    of entries: [OutboxEntry], after earlier: [OutboxEntry]
  ) async throws -> [[MatchedChange]]
  /// Returns the subscribers of a part whose firings are deferred; see ``DeferredWork``.
  func deferredSubscribers(in part: DatabasePart) async throws -> [String]
  /// Returns the oldest deferred changes of a subscriber, to be passed to
  /// ``completeDispatch(of:timestamp:leasing:)`` in their order; nil if none is left.
  ///
  /// - Parameters:
  ///   - limit: the most changes returned. Fewer are returned if they are large.
  ///   - most: the most changes that may wait for the subscriber. The call gives up the oldest of
  ///     more: their firings are never logged, and the subscriber's log looks as if they had been
  ///     trimmed.
  func deferredWork(
    of subscriber: String, in part: DatabasePart, limit: Int, ofAtMost most: Int
  ) async throws -> DeferredWork?
  /// Encodes the rows that ``completeDispatch(of:timestamp:leasing:)`` will write for a change, and
  /// stores them in the value. The call leaves out the last firings if all of them together are
  /// larger than `bytes`, but never the first firing; see ``MatchedChange/isWhole``.
  ///
  /// The encoding of many firings takes time. A caller can prepare a change while an earlier
  /// transaction is being written. `completeDispatch` itself encodes changes that are not prepared,
  /// before its transaction begins.
  func prepare(_ change: inout MatchedChange, within bytes: Int)
  /// Writes the effects of the changes in one transaction: log entries, deliveries (``Delivery``),
  /// badge counts, and deletions of `firesOnce` subscriptions. The transaction also marks the
  /// changes as dispatched. A change with only some of its firings (``MatchedChange/isWhole``)
  /// waits for its other firings.
  ///
  /// The method leaves out changes and firings that are already dispatched, so nothing is logged
  /// twice. It also leaves out firings of `firesOnce` subscriptions that were deleted since the
  /// match.
  ///
  /// - Throws: ``StoreError/Code/outOfOrder`` if earlier changes of a database wait that are not in
  ///   `changes`; ``StoreError/Code/leaseLost`` if this server is registered and has no lease of
  ///   the changes' part (``DispatchLeases``).
  /// - Parameter capacity: the limits on the deliveries to write, and on those to lease to the
  ///   caller. With nil, all deliveries are written and none is leased.
  func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp, leasing capacity: DeliveryCapacity?
  ) async throws -> DispatchResult
}

extension OutboxStore {
  /// Writes the effects of the changes. It writes all deliveries and leases none.
  @discardableResult
  public func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp
  ) async throws -> DispatchResult {
    try await completeDispatch(of: changes, timestamp: timestamp, leasing: nil)
  }
}
