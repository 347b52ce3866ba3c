import CloudKitModel
import Matching
import Storage
import Synchronization

/// Turns committed changes into notifications: outbox → match → notification log and deliveries.
///
/// Changes come in memory right after their commit. Whatever was not dispatched when a process
/// died stands in the outbox and is dispatched at the next start. Within a database changes are
/// dispatched in the order of their commits, one batch after the other; different databases go
/// side by side. A change that fires nothing leaves the outbox with a later transaction: it has
/// nothing to wait for, and a commit of its own would only delay the saves.
public final class Dispatcher: Sendable {
  public struct Configuration: Sendable {
    /// Changes in one transaction.
    public var batchSize = 256
    /// Changes that may wait in memory; beyond it they are read from the outbox.
    public var handoverCapacity = 10_000
    /// How long changes that fired nothing may stay in the outbox for a transaction to go with, in
    /// seconds.
    public var retirementDelay = 0.05
    /// Databases whose indexes are kept in memory.
    public var indexCapacity = 1_000
    /// Whether notifications of deletions in this container carry the last values of the desired
    /// keys.
    public var deletionsCarryLastValues: @Sendable (_ container: String) -> Bool = { _ in false }
    /// Where the dispatcher's task runs; nil is Swift's own pool.
    public var executor: (any TaskExecutor)?

    public init() {}
  }

  /// How the dispatcher is doing.
  public struct Metrics: Sendable, Hashable {
    public var dispatchedChanges = 0
    public var loggedNotifications = 0
    /// Notifications that subscribers did not get because they may not read the record.
    public var withheldNotifications = 0
    /// Transactions that failed and were tried again.
    public var failures = 0
    /// Times that changes had to be read from the outbox.
    public var catchUps = 0
    public var waitingChanges = 0
  }

  private let store: any RecordStore
  private let configuration: Configuration
  private let clock: @Sendable () -> Timestamp
  private let report: @Sendable (String) -> Void
  private let onDispatched: @Sendable (DispatchResult) -> Void
  private let handover: ChangeHandover
  private let indexes: SubscriptionIndexCache
  private let counters = Mutex(Metrics())
  private let withheld = WithheldJournal(capacity: 1_000)
  private let loop = Mutex<Task<Void, Never>?>(nil)

  /// - Parameters:
  ///   - clock: the time that log entries bear.
  ///   - report: takes a line for the server's log when something fails.
  ///   - onDispatched: is called with the result of each transaction, in order for each database.
  public init(
    store: any RecordStore, configuration: Configuration = Configuration(),
    clock: @escaping @Sendable () -> Timestamp = { .now },
    report: @escaping @Sendable (String) -> Void,
    onDispatched: @escaping @Sendable (DispatchResult) -> Void
  ) {
    self.store = store
    self.configuration = configuration
    self.clock = clock
    self.report = report
    self.onDispatched = onDispatched
    handover = ChangeHandover(capacity: configuration.handoverCapacity)
    indexes = SubscriptionIndexCache(store: store, capacity: configuration.indexCapacity)
  }

  public var metrics: Metrics {
    var metrics = counters.withLock { $0 }
    metrics.waitingChanges = handover.backlog.waiting
    return metrics
  }

  /// The latest notifications that were withheld, with the reasons; 1,000 at most.
  public var latestWithheld: [WithheldNotification] { withheld.all }

  /// Begins with what the outbox holds, then takes changes as they are committed.
  public func start() {
    let handover = handover
    store.setCommitHandler { entries in handover.offer(entries) }
    loop.withLock { loop in
      if loop == nil {
        loop = Task(executorPreference: configuration.executor) { await self.run() }
      }
    }
  }

  /// Comes back as soon as every change that was committed is dispatched and the outbox is empty.
  /// Comes back at once after ``stop()``, and not before ``start()``. While commits never pause it
  /// does not come back.
  public func settled() async {
    await handover.settled()
  }

  /// Finishes the batch that is under way. What waits stays in the outbox.
  public func stop() async {
    store.setCommitHandler(nil)
    handover.stop()
    let loop = loop.withLock { $0 }
    // Ends a delay, and a long catching up between two batches; the store's calls do not notice.
    loop?.cancel()
    await loop?.value
  }

  private func run() async {
    var retry = RetryDelay()
    var retirement = Retirement(limit: configuration.batchSize)
    while true {
      do {
        let patience = retirement.isEmpty ? nil : configuration.retirementDelay
        switch await handover.next(atMost: configuration.batchSize, within: patience) {
        case .dispatch(let entries): try await dispatch(entries, &retirement)
        case .catchUp: try await catchUp(&retirement)
        case .idle: try await retire(&retirement)
        case .stop:
          try await retire(&retirement)
          return
        }
        retry.succeed()
      } catch {
        // Nothing is lost: what failed is in the outbox still.
        counters.withLock { $0.failures += 1 }
        retirement.removeAll()
        handover.fallBehind()
        let delay = retry.fail()
        report("dispatching failed, trying again in \(delay) s: \(error)")
        if handover.isStopped { return }
        try? await Task.sleep(for: .seconds(delay))
      }
    }
  }

  private func catchUp(_ retirement: inout Retirement) async throws {
    counters.withLock { $0.catchUps += 1 }
    try await dispatchOutbox(&retirement)
    handover.beginCatchingUp()
    // What was committed between the last reading and the line above.
    try await dispatchOutbox(&retirement)
  }

  /// Dispatches what stands in the outbox. A database that fails keeps none of the others waiting.
  private func dispatchOutbox(_ retirement: inout Retirement) async throws {
    try await retire(&retirement)
    var failure: (any Error)?
    for database in try await store.undispatchedDatabases() {
      do {
        try await dispatchOutbox(of: database, &retirement)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  private func dispatchOutbox(
    of database: DatabaseID, _ retirement: inout Retirement
  ) async throws {
    var sequence = Int64.min
    while !Task.isCancelled {
      let entries = try await store.undispatchedChanges(
        in: database, after: sequence, limit: configuration.batchSize)
      guard let last = entries.last else { break }
      try await dispatch(entries, &retirement)
      sequence = last.sequence
    }
    try await retire(&retirement)
  }

  private func dispatch(
    _ entries: [OutboxEntry], _ retirement: inout Retirement
  ) async throws {
    let byDatabase = Dictionary(grouping: entries, by: \.database)
    if byDatabase.count == 1, let (database, entries) = byDatabase.first {
      let retiring = retirement.take(of: database)
      retirement.add(try await dispatch(entries, in: database, with: retiring), to: database)
    } else {
      try await withThrowingTaskGroup(of: (DatabaseID, [MatchedChange]).self) { group in
        for (database, entries) in byDatabase {
          let retiring = retirement.take(of: database)
          group.addTask {
            (database, try await self.dispatch(entries, in: database, with: retiring))
          }
        }
        for try await (database, silent) in group { retirement.add(silent, to: database) }
      }
    }
    if retirement.isFull { try await retire(&retirement) }
  }

  /// Dispatches changes of one database.
  ///
  /// - Parameter retiring: changes that fired nothing and go with the next transaction.
  /// - Returns: those that are to go with a later one, when nothing fired.
  private func dispatch(
    _ entries: [OutboxEntry], in database: DatabaseID, with retiring: [MatchedChange]
  ) async throws -> [MatchedChange] {
    let index = try await indexes.current(
      for: database, example: entries.first?.change)
    var scratch = MatchScratch()
    let matched = entries.map { entry in
      let matches = index.matches(
        entry.change, savedBy: entry.subscriptionVersion, using: &scratch)
      return MatchedChange(
        entry: entry,
        firings: matches.map {
          StoredSubscription(
            subscriber: $0.key.subscriber, subscription: $0.subscription, version: $0.version)
        })
    }
    counters.withLock { $0.dispatchedChanges += entries.count }
    guard matched.contains(where: { !$0.firings.isEmpty }) else { return retiring + matched }
    try await complete(retiring + (try await markingDeletions(matched, in: database)))
    return []
  }

  /// The changes, with a mark on deletions whose notifications carry the last values.
  private func markingDeletions(
    _ matched: [MatchedChange], in database: DatabaseID
  ) async throws -> [MatchedChange] {
    let isDeletion = { (matched: MatchedChange) in
      matched.entry.change.event == .recordDeleted && !matched.firings.isEmpty
    }
    guard matched.contains(where: isDeletion),
      configuration.deletionsCarryLastValues(try await store.address(of: database).container)
    else { return matched }
    return matched.map { change in
      var change = change
      change.carriesLastValues = isDeletion(change)
      return change
    }
  }

  private func retire(_ retirement: inout Retirement) async throws {
    for changes in retirement.takeAll() { try await complete(changes) }
  }

  private func complete(_ changes: [MatchedChange]) async throws {
    let result = try await store.completeDispatch(of: changes, timestamp: clock())
    counters.withLock { counters in
      counters.loggedNotifications += result.logged.count
      counters.withheldNotifications += result.withheld.count
    }
    withheld.add(result.withheld)
    onDispatched(result)
  }
}
