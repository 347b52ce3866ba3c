import CloudKitModel
import Matching
import Storage
import Synchronization

/// Turns committed changes into notifications: outbox → match → notification log and deliveries.
///
/// Changes come in memory right after their commit. Whatever was not dispatched when a process
/// died stands in the outbox and is dispatched at the next start. Within a database changes are
/// dispatched in the order of their commits, one batch after the other; different databases go
/// side by side.
public final class Dispatcher: Sendable {
  public struct Configuration: Sendable {
    /// Changes in one transaction.
    public var batchSize = 256
    /// Changes that may wait in memory; beyond it they are read from the outbox.
    public var handoverCapacity = 10_000
    /// Databases whose indexes are kept in memory.
    public var indexCapacity = 1_000

    public init() {}
  }

  /// How the dispatcher is doing.
  public struct Metrics: Sendable, Hashable {
    public var dispatchedChanges = 0
    public var loggedNotifications = 0
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

  /// Begins with what the outbox holds, then takes changes as they are committed.
  public func start() {
    let handover = handover
    store.setCommitHandler { entries in handover.offer(entries) }
    loop.withLock { loop in
      if loop == nil { loop = Task { await self.run() } }
    }
  }

  /// Finishes the batch that is under way. What waits stays in the outbox.
  public func stop() async {
    store.setCommitHandler(nil)
    handover.stop()
    await loop.withLock { $0 }?.value
  }

  private func run() async {
    var retry = RetryDelay()
    while true {
      do {
        switch await handover.next(atMost: configuration.batchSize) {
        case .dispatch(let entries): try await dispatch(entries)
        case .catchUp: try await catchUp()
        case .stop: return
        }
        retry.succeed()
      } catch {
        // Nothing is lost: what failed is in the outbox still.
        counters.withLock { $0.failures += 1 }
        handover.fallBehind()
        let delay = retry.fail()
        report("dispatching failed, trying again in \(delay) s: \(error)")
        try? await Task.sleep(for: .seconds(delay))
      }
    }
  }

  private func catchUp() async throws {
    counters.withLock { $0.catchUps += 1 }
    try await dispatchOutbox()
    handover.beginCatchingUp()
    // What was committed between the last reading and the line above.
    try await dispatchOutbox()
  }

  private func dispatchOutbox() async throws {
    for database in try await store.undispatchedDatabases() {
      var sequence = Int64.min
      while true {
        let entries = try await store.undispatchedChanges(
          in: database, after: sequence, limit: configuration.batchSize)
        guard let last = entries.last else { break }
        try await dispatch(entries, in: database)
        sequence = last.sequence
      }
    }
  }

  private func dispatch(_ entries: [OutboxEntry]) async throws {
    let byDatabase = Dictionary(grouping: entries, by: \.database)
    if byDatabase.count == 1, let (database, entries) = byDatabase.first {
      return try await dispatch(entries, in: database)
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (database, entries) in byDatabase {
        group.addTask { try await self.dispatch(entries, in: database) }
      }
      try await group.waitForAll()
    }
  }

  private func dispatch(_ entries: [OutboxEntry], in database: DatabaseID) async throws {
    let index = try await indexes.current(for: database)
    let matched = entries.map { entry in
      MatchedChange(
        entry: entry,
        firings: index.matches(entry.change, savedBy: entry.subscriptionVersion).map {
          StoredSubscription(
            subscriber: $0.key.subscriber, subscription: $0.subscription, version: $0.version)
        })
    }
    let result = try await store.completeDispatch(of: matched, timestamp: clock())
    counters.withLock {
      $0.dispatchedChanges += entries.count
      $0.loggedNotifications += result.logged.count
    }
    onDispatched(result)
  }
}
