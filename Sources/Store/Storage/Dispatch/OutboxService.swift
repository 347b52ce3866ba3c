import CloudKitModel
import StoreModel

/// The outbox: the committed changes that wait to be matched against subscriptions.
///
/// Its caller is the dispatcher. The commit handler passes the changes of each commit to the
/// dispatcher. Changes that did not come from the handler, as after a restart, are read from the
/// outbox.
struct OutboxService: OutboxStore {
  let transactions: Transactions
  /// Trims the logs that the dispatched notifications fill.
  let notificationLog: NotificationLogService

  /// Sets the function that gets the changes of each commit; nil removes it. The writing thread
  /// calls the function after the commit, so the function must not block.
  func setCommitHandler(_ handler: (@Sendable ([OutboxEntry]) -> Void)?) {
    transactions.writer.setCommitHandler(handler)
  }

  /// Sets the function that is called after a commit with an unknown outcome, such as after a lost
  /// connection; nil removes it. A writing thread calls the function when the commit has either
  /// succeeded or failed for certain. The function must not block.
  func setDoubtHandler(_ handler: (@Sendable () -> Void)?) {
    transactions.writer.setDoubtHandler(handler)
  }

  /// Returns the databases with undispatched changes, in the order of their numbers. In a
  /// distributed store, the method runs statements for each database that has changes, dispatched
  /// or not.
  func undispatchedDatabases() async throws -> [DatabaseID] {
    if transactions.context.isDistributed {
      return try await transactions.read { transaction in
        let outbox = OutboxTable(transaction: transaction)
        return try outbox.databases().filter { try outbox.hasWork(in: $0) }
      }
    }
    return try await transactions.read { try OutboxTable(transaction: $0).undispatchedDatabases() }
  }

  /// Returns the next undispatched changes of a database, or of a part of a divided database; see
  /// ``OutboxTable/undispatchedEntries(in:after:limit:)``.
  func undispatchedChanges(
    in part: DatabasePart, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry] {
    try await transactions.read {
      try OutboxTable(transaction: $0).undispatchedEntries(in: part, after: sequence, limit: limit)
    }
  }

  /// Returns the subscribers of a part whose firings are deferred (``DeferredDispatchTable``).
  func deferredSubscribers(in part: DatabasePart) async throws -> [String] {
    try await transactions.read {
      try DeferredDispatchTable(transaction: $0).subscribers(in: part)
    }
  }

  /// Returns the oldest deferred changes of a subscriber with the subscriber's subscriptions, from
  /// one snapshot of the store; see ``DeferredDispatchTable/work(of:in:limit:keeping:)``.
  ///
  /// If no change is left, the method ends the deferral and returns nil.
  func deferredWork(
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
      // A change that is partly dispatched to the others is deferred, too, but not among the work yet.
      let position = try DispatchTable(transaction: transaction).position(of: part)
      guard position?.settled == nil, try find(transaction) == nil else { return }
      try DeferredDispatchTable(transaction: transaction).remove(subscriber, in: part.database)
    }
    return nil
  }

  /// Encodes the notifications of a change on the calling thread, and stores the result in
  /// `change.preparation`. Firings beyond `bytes` are removed from the change. The method does not
  /// read the store.
  func prepare(_ change: inout MatchedChange, within bytes: Int) {
    let notifications = PreparedNotifications(
      of: change.entry.change, for: change.firings, contentNumbers: change.contentNumbers,
      carriesLastValues: change.carriesLastValues, within: bytes)
    change.keepFirst(notifications.elements.count)
    change.preparation = notifications
  }

  /// Returns the changes to forward to participants of shares; see ``ForwardSearch``.
  func forwards(
    of entries: [OutboxEntry], after earlier: [OutboxEntry]
  ) async throws -> [[MatchedChange]] {
    guard let part = entries.first?.part else { return [] }
    return try await transactions.read { transaction in
      try DispatchProgress.checkOrder(of: earlier + entries, in: part, in: transaction)
      return try ForwardSearch(source: part.database, transaction: transaction)
        .forwards(of: entries)
    }
  }

  /// Writes the log entries and deliveries of matched changes in one transaction; see
  /// ``DispatchCompletion``.
  ///
  /// The caller's task encodes unprepared changes before the transaction, and converts the result
  /// after it.
  ///
  /// If the log of one of the subscribers has grown much since it was last trimmed (``LogGrowth``),
  /// the transaction also trims that log. So no log exceeds its limits by much, however fast the
  /// entries are written.
  ///
  /// - Parameter capacity: the number of deliveries to lease to the caller; nil leases none.
  /// - Throws: ``StoreError/Code/outOfOrder`` if earlier changes of a database are undispatched and
  ///   not in `changes`. ``StoreError/Code/leaseLost`` if this server has no lease for the changes.
  func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp, leasing capacity: DeliveryCapacity?
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

  /// Returns what the dispatch of changes needs to know, by database.
  private static func needs(
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
