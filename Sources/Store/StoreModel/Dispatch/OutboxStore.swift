import CloudKitModel

/// The store's side of dispatch: it gives committed changes to the dispatcher, and stores the
/// notifications and deliveries that result.
///
/// The outbox makes the handover in memory safe. A change stays in the outbox until
/// ``completeDispatch(of:timestamp:leasing:)`` has written its effects. After a crash, the
/// dispatcher reads the changes that are left.
public protocol OutboxStore: OutboxReading {
  /// Sets the handler that gets the changes of each commit, in the order of the commits. It is
  /// called on the writer's thread and must not block. The outbox holds the same changes, in case
  /// the handler drops some.
  func setCommitHandler(_ handler: (@Sendable ([OutboxEntry]) -> Void)?)
  /// Sets the handler that is called after a commit with an unknown outcome, as when the connection
  /// to the database server is lost during it. It is called on a writer's thread after the outcome
  /// is settled. The commit's changes did not reach the commit handler: they are in the outbox, or
  /// were rolled back.
  func setDoubtHandler(_ handler: (@Sendable () -> Void)?)
  /// Encodes what ``completeDispatch(of:timestamp:leasing:)`` will write for a change.
  ///
  /// Encoding many firings takes time. A caller can prepare a change while an earlier transaction
  /// is being written. `completeDispatch` encodes unprepared changes itself, before its transaction
  /// begins.
  func prepare(_ change: inout MatchedChange)
  /// Writes the effects of the changes in one transaction: log entries, deliveries to the devices
  /// of each subscriber except the device of origin, badge counts, deletions of `firesOnce`
  /// subscriptions, and the dispatch of the changes. A change with only some of its firings
  /// (``MatchedChange/isWhole``) keeps waiting for the others.
  ///
  /// Changes and firings that are already dispatched are skipped, and so are firings of `firesOnce`
  /// subscriptions that are gone: nothing is logged twice.
  ///
  /// - Throws: ``StoreError/Code/outOfOrder`` if other changes of a database wait before these, and
  ///   ``StoreError/Code/leaseLost`` if another server dispatches them.
  /// - Parameter capacity: the number of deliveries to lease to the caller; nil leases none.
  func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp, leasing capacity: DeliveryCapacity?
  ) async throws -> DispatchResult
}

extension OutboxStore {
  /// Writes the effects of the changes; the deliveries wait in the store.
  @discardableResult
  public func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp
  ) async throws -> DispatchResult {
    try await completeDispatch(of: changes, timestamp: timestamp, leasing: nil)
  }
}
