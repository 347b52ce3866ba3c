import CloudKitModel

/// Hands over committed changes, and keeps what their dispatch led to.
public protocol OutboxStore: OutboxReading {
  /// Is called with the changes of each commit, in the order of the commits, from the writer's
  /// thread: it must not block. The outbox holds the same changes, for when it could not take them.
  func setCommitHandler(_ handler: (@Sendable ([OutboxEntry]) -> Void)?)
  /// Sets what is called, on a writer's thread, after a commit failed in a way that left open whether it
  /// is there, as when the connection to the database server is cut in it. By the time of the call that
  /// is decided. Its changes did not go to the commit handler: they stand in the outbox or never will.
  func setDoubtHandler(_ handler: (@Sendable () -> Void)?)
  /// Encodes what ``completeDispatch(of:timestamp:leasing:)`` will write of a change.
  ///
  /// Encoding takes time for many firings. A caller that prepares a change while an earlier transaction is
  /// written spends that time beside it. Of a change that nobody prepared, `completeDispatch` encodes the
  /// same before its transaction begins.
  func prepare(_ change: inout MatchedChange)
  /// Writes what the changes led to, in one transaction: log entries, deliveries to the APNs tokens
  /// of each subscriber but the device of origin, badge counts, deletion of `firesOnce`
  /// subscriptions, and that the changes are dispatched. A change that comes with a part of its
  /// firings alone (``MatchedChange/isWhole``) goes on waiting for the others.
  ///
  /// A change that is dispatched already, wholly or as far as these firings, is passed over, and so is a
  /// firing whose `firesOnce` subscription is gone: nothing is logged twice.
  ///
  /// - Throws: ``StoreError/Code/outOfOrder`` when other changes of a database wait before these, and
  ///   ``StoreError/Code/leaseLost`` when another server dispatches them.
  /// - Parameter capacity: how many of the deliveries are leased to the caller; without it none is.
  func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp, leasing capacity: DeliveryCapacity?
  ) async throws -> DispatchResult
}

extension OutboxStore {
  /// Writes what the changes led to; the deliveries wait in the store.
  @discardableResult
  public func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp
  ) async throws -> DispatchResult {
    try await completeDispatch(of: changes, timestamp: timestamp, leasing: nil)
  }
}
