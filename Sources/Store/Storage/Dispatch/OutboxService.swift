import CloudKitModel
import StoreModel

/// The interface between the store and the dispatcher. The store passes committed changes to the
/// dispatcher, which matches them against subscriptions. The store then writes the notifications
/// and deliveries. The changes are passed in memory, but a change also waits in a table, the
/// outbox, until ``completeDispatch(of:timestamp:leasing:)`` has written its effects. After a
/// crash, the dispatcher reads the waiting changes from there.
///
/// ``OutboxService`` implements and documents the methods. The protocol lets a test delay or fail
/// the calls of a dispatcher.
public protocol OutboxStore: Sendable {
  func setCommitHandler(_ handler: (@Sendable ([OutboxEntry]) -> Void)?)
  func setDoubtHandler(_ handler: (@Sendable () -> Void)?)
  func undispatchedDatabases() async throws -> [DatabaseID]
  func undispatchedChanges(
    in part: DatabasePart, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry]
  func forwards(
    of entries: [OutboxEntry], after earlier: [OutboxEntry]
  ) async throws -> [[MatchedChange]]
  func deferredSubscribers(in part: DatabasePart) async throws -> [String]
  func deferredWork(
    of subscriber: String, in part: DatabasePart, limit: Int, ofAtMost most: Int
  ) async throws -> DeferredWork?
  func prepare(_ change: inout MatchedChange, within bytes: Int)
  func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp, leasing capacity: DeliveryCapacity?
  ) async throws -> DispatchResult
}

/// The outbox in the store's tables: the committed changes that wait to be matched against
/// subscriptions.
public struct OutboxService: OutboxStore {
  let transactions: Transactions
  let notificationLog: NotificationLogService

  /// Sets the handler that gets the changes of each commit, in the order of the commits. A writing
  /// thread calls it, so it must not block. If the handler loses changes, the dispatcher can read
  /// them from the outbox.
  public func setCommitHandler(_ handler: (@Sendable ([OutboxEntry]) -> Void)?) {
    transactions.writer.setCommitHandler(handler)
  }

  /// Sets the handler that is called after a commit with an unknown outcome, such as after a lost
  /// connection. By then, the commit has either succeeded or failed for certain. The commit handler
  /// has not got its changes: they are in the outbox, or were rolled back. A writing thread calls
  /// the handler, so it must not block.
  public func setDoubtHandler(_ handler: (@Sendable () -> Void)?) {
    transactions.writer.setDoubtHandler(handler)
  }

  /// Returns the databases whose outbox has changes that wait to be dispatched.
  public func undispatchedDatabases() async throws -> [DatabaseID] {
    if transactions.context.isDistributed {
      return try await transactions.read { transaction in
        let outbox = OutboxTable(transaction: transaction)
        return try outbox.databases().filter { try outbox.hasWork(in: $0) }
      }
    }
    return try await transactions.read { try OutboxTable(transaction: $0).undispatchedDatabases() }
  }

  /// Returns the oldest changes of a database that wait to be dispatched to a part, in the order of
  /// their numbers after `sequence`. The first change may be partly dispatched: see
  /// ``OutboxEntry/settledThrough``. The result ends early at ``OutboxEntry/bytesAtOnce``.
  public func undispatchedChanges(
    in part: DatabasePart, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry] {
    try await transactions.read {
      try OutboxTable(transaction: $0).undispatchedEntries(in: part, after: sequence, limit: limit)
    }
  }

  /// Returns the subscribers of a part whose firings are deferred; see ``DeferredWork``.
  public func deferredSubscribers(in part: DatabasePart) async throws -> [String] {
    try await transactions.read {
      try DeferredDispatchTable(transaction: $0).subscribers(in: part)
    }
  }

  /// Returns the oldest deferred changes of a subscriber, to be passed to
  /// ``completeDispatch(of:timestamp:leasing:)`` in their order; nil if none is left.
  ///
  /// - limit: the most changes returned. Fewer are returned if they are large.
  ///   - most: the most changes that may wait for the subscriber. The call gives up the oldest of
  ///     more: their firings are never logged, and the log looks as if they had been trimmed.
  public func deferredWork(
    of subscriber: String, in part: DatabasePart, limit: Int, ofAtMost most: Int
  ) async throws -> DeferredWork? {
    let entryLimit = notificationLog.limits.entries
    let find: @Sendable (StoreTransaction) throws -> DeferredWork? = {
      try DeferredDispatchTable(transaction: $0)
        .work(of: subscriber, in: part, limit: limit, keeping: entryLimit)
    }
    let overdue = try await transactions.read {
      try DeferredDispatchTable(transaction: $0).overdue(of: subscriber, in: part, keeping: most)
    }
    if let overdue {
      try await transactions.write(
        locking: .database(part.database), rows: 1, isDispatch: true
      ) { transaction in
        try DeferredDispatchTable(transaction: transaction).giveUp(
          overdue, of: subscriber, in: part)
      }
    }
    if var work = try await transactions.read(find) {
      work.givenUp = overdue?.count ?? 0
      return work
    }
    try await transactions.write(locking: .database(part.database)) { transaction in
      // A change that is partly dispatched to the others is deferred, too, but not among the work
      // yet.
      let position = try DispatchTable(transaction: transaction).position(of: part)
      guard position?.settled == nil, try find(transaction) == nil else { return }
      try DeferredDispatchTable(transaction: transaction).remove(subscriber, in: part.database)
    }
    return nil
  }

  /// Encodes the rows that ``completeDispatch(of:timestamp:leasing:)`` will write for a change. The
  /// call leaves out the last firings if all together are larger than `bytes`, but never the first
  /// one; see ``MatchedChange/isWhole``. A caller can prepare a change while an earlier transaction
  /// is being written. `completeDispatch` encodes changes that are not prepared, before its
  /// transaction begins.
  public func prepare(_ change: inout MatchedChange, within bytes: Int) {
    let notifications = PreparedNotifications(
      of: change.entry.change, for: change.firings, contentNumbers: change.contentNumbers,
      carriesLastValues: change.carriesLastValues, within: bytes)
    change.keepFirst(notifications.elements.count)
    change.preparation = notifications
  }

  /// Returns the changes that are to be forwarded to participants of shares, and the subscriptions
  /// that they fire there.
  ///
  /// Who takes part is read after the commits of the changes, so nobody gets a change that was
  /// committed after the end of the part. The changes have no fields of records, and the names that
  /// the participant sees.
  ///
  /// - Parameters:
  ///   - entries: changes of one private database, in the order of their numbers.
  ///   - earlier: the undispatched changes before `entries`, which were forwarded before.
  /// - Returns: an array for each participant whose subscriptions fire, to be passed to
  ///   ``completeDispatch(of:timestamp:leasing:)``, which leaves out a change that was forwarded
  ///   before.
  /// - Throws: ``StoreError/Code/outOfOrder`` if earlier changes of the database wait that are in
  ///   neither array. The store only remembers the last change that a participant got, so these
  ///   changes would be left out later.
  public func forwards(
    of entries: [OutboxEntry], after earlier: [OutboxEntry]
  ) async throws -> [[MatchedChange]] {
    guard let part = entries.first?.part else { return [] }
    return try await transactions.read { transaction in
      try DispatchProgress.checkOrder(of: earlier + entries, in: part, in: transaction)
      return try ForwardSearch(source: part.database, transaction: transaction)
        .forwards(of: entries)
    }
  }

  /// Writes the effects of the changes in one transaction: log entries, deliveries, badge counts,
  /// and deletions of `firesOnce` subscriptions. The transaction also marks the changes as
  /// dispatched. A change with only some of its firings (``MatchedChange/isWhole``) waits for its
  /// other firings.
  ///
  /// The method leaves out changes and firings that are already dispatched, and firings of
  /// `firesOnce` subscriptions that were deleted since the match. If the log of a subscriber has
  /// grown much (`LogGrowth`), the transaction also trims it, so no log exceeds its limits by much.
  /// - Throws: ``StoreError/Code/outOfOrder`` if earlier changes of a database wait that are not in
  ///   `changes`; ``StoreError/Code/leaseLost`` if this server is registered and has no lease of
  ///   the changes' part (``ClusterService``).
  /// - Parameter capacity: the limits on the deliveries to write, and on those to lease to the
  ///   caller. With nil, all deliveries are written and none is leased.
  @discardableResult
  public func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp, leasing capacity: DeliveryCapacity? = nil
  ) async throws -> DispatchResult {
    let changes = changes.map { PreparedChange($0) }
    let grown = notificationLog.growth.takeGrown(among: changes)
    let limits = notificationLog.limits
    let outcome = try await transactions.write(
      locking: .dispatch(of: changes),
      rows: changes.reduce(changes.count) { $0 + $1.notifications.elements.count },
      isDispatch: true, needs: Self.needs(of: changes, at: timestamp)
    ) { transaction in
      var dispatch = DispatchCompletion(
        timestamp: timestamp, capacity: capacity, transaction: transaction)
      try dispatch.complete(changes)
      for user in grown { try LogTrimming(in: transaction).trim(user, to: limits) }
      return dispatch.outcome
    }
    notificationLog.growth.note(outcome.grown)
    return outcome.result(of: changes, timestamp: timestamp)
  }

  static func needs(
    of changes: [PreparedChange], at timestamp: Timestamp
  ) -> [ReadNeeds] {
    var needs: [DatabaseID: ReadNeeds] = [:]
    for change in changes {
      let database = change.entry.database
      var need = needs[database] ?? ReadNeeds(database: database, timestamp: timestamp)
      if change.entry.part.isWhole, change.entry.deferral == nil, change.entry.forwarding == nil {
        need.dispatchedThrough = change.entry.sequence
      }
      need.recipients.formUnion(change.notifications.elements.lazy.map(\.subscriber))
      needs[database] = need
    }
    return Array(needs.values)
  }
}
