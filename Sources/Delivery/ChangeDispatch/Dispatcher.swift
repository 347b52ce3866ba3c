import CloudKitModel
import KillPoints
import Measuring
import StoreModel
import Synchronization

/// Turns committed changes into notifications: outbox → match → notification log and deliveries.
///
/// Changes come in memory right after their commit. After a crash, undispatched changes are in the
/// outbox and are dispatched at the next start. The changes of a database are dispatched in the
/// order of their commits, one batch after the other. Databases are dispatched concurrently, and
/// none waits for another. The effects of a batch are written in transactions of bounded size; a
/// change with more firings takes several transactions, and the store has its progress. The
/// dispatch of changes without firings is stored with a later transaction: no task waits for it,
/// and a commit of its own would only delay saves.
public final class Dispatcher: Sendable {
  public struct Configuration: Sendable {
    /// The most changes in one transaction.
    public var batchSize = 256
    /// The most firings in one transaction.
    public var firingLimit = 1_000
    /// The most changes that wait in memory; further ones are read from the outbox.
    public var handoverCapacity = 10_000
    /// The most databases dispatched at the same time; others wait for their turn.
    public var laneLimit = 256
    /// How long changes without firings may wait for a transaction, in seconds.
    public var retirementDelay = 0.05
    /// The estimated memory of the databases' matching indexes in bytes. The index that was used
    /// last always stays.
    public var indexBytes = 1 << 30
    /// The number of subscriptions read at once to build an index.
    var indexPieceSize = SubscriptionIndexes.pieceSize
    /// Whether notifications of deletions in this container carry the last values of the desired
    /// keys.
    public var deletionsCarryLastValues: @Sendable (_ container: String) -> Bool = { _ in false }
    /// Where the dispatcher's tasks run; nil is Swift's own pool.
    public var executor: (any TaskExecutor)?

    public init() {}
  }

  /// Counts and state of the dispatcher.
  public struct Metrics: Sendable, Hashable {
    public var dispatchedChanges = 0
    /// Subscriptions that matching tested one by one: those that an index has for a value of the
    /// change. Equal subscriptions count as one. Zone and database subscriptions need no test and
    /// are not counted.
    public var candidates = 0
    /// The tested ones that fired.
    public var firedCandidates = 0
    public var loggedNotifications = 0
    /// Notifications withheld because the subscriber may not read the record.
    public var withheldNotifications = 0
    /// Deliveries that were not written.
    public var unsentDeliveries = UnsentDeliveryCounts()
    /// Transactions that failed and were retried.
    public var failures = 0
    /// The last failure; nil after a success.
    public var fault: String?
    /// Seconds from the save of a change with firings until its notifications are in the log.
    public var savedToLogged = Histogram(bounds: Histogram.longSeconds)
    /// How often a database's changes had to be read from the outbox.
    public var catchUps = 0
    public var waitingChanges = 0
    /// The number of matching indexes in memory.
    public var indexes = 0
    /// Their approximate memory in bytes.
    public var indexBytes = 0
    /// The number of indexes read from the store, and the seconds for all of them.
    public var indexLoads = 0
    public var indexLoadSeconds = 0.0
    /// The number of indexes evicted because others needed the memory.
    public var indexEvictions = 0
  }

  let store: DispatchStore
  let configuration: Configuration
  /// This server's membership in a cluster; nil if it uses the store alone.
  let membership: ServerMembership?
  let handover: ChangeHandover
  let indexes: SubscriptionIndexes
  let counters = Mutex(Metrics())
  let report: @Sendable (WorkReport) -> Void
  private let clock: @Sendable () -> Timestamp
  private let capacity: @Sendable () -> DeliveryCapacity?
  private let onDispatched: @Sendable (DispatchResult) -> Void
  private let onRecovered: @Sendable () -> Void
  private let withheld = WithheldJournal(capacity: 1_000)
  private let loop = Mutex<Task<Void, Never>?>(nil)

  /// - Parameters:
  ///   - membership: this server's membership in a cluster; nil if it uses the store alone.
  ///   - clock: the time for log entries.
  ///   - report: takes a line for the server's log about a failure.
  ///   - capacity: the number of a transaction's deliveries that `onDispatched` takes at once,
  ///     leased to it. Without it, `onDispatched` gets all deliveries, unleased.
  ///   - onDispatched: called with the result of each transaction, in order for each database.
  ///   - onRecovered: called when the store writes again after a commit with an unknown outcome,
  ///     which `onDispatched` does not report.
  public init(
    store: DispatchStore, configuration: Configuration = Configuration(),
    membership: ServerMembership? = nil, clock: @escaping @Sendable () -> Timestamp = { .now },
    report: @escaping @Sendable (WorkReport) -> Void,
    capacity: @escaping @Sendable () -> DeliveryCapacity? = { nil },
    onDispatched: @escaping @Sendable (DispatchResult) -> Void,
    onRecovered: @escaping @Sendable () -> Void = {}
  ) {
    self.store = store
    self.configuration = configuration
    self.membership = membership
    self.clock = clock
    self.report = report
    self.capacity = capacity
    self.onDispatched = onDispatched
    self.onRecovered = onRecovered
    handover = ChangeHandover(
      capacity: configuration.handoverCapacity, laneLimit: configuration.laneLimit)
    indexes = SubscriptionIndexes(
      store: store.subscriptions, limit: configuration.indexBytes,
      pieceSize: configuration.indexPieceSize)
  }

  public var metrics: Metrics {
    var metrics = counters.withLock { $0 }
    metrics.waitingChanges = handover.waitingCount
    let indexes = indexes.metrics
    metrics.indexes = indexes.count
    metrics.indexBytes = indexes.bytes
    metrics.indexLoads = indexes.loads
    metrics.indexLoadSeconds = indexes.loadSeconds
    metrics.indexEvictions = indexes.evictions
    return metrics
  }

  /// The latest withheld notifications with the reasons, at most 1,000.
  public var latestWithheld: [WithheldNotification] { withheld.all }

  /// Dispatches the outbox first, then changes as they are committed.
  public func start() {
    let (handover, membership) = (handover, membership)
    store.outbox.setCommitHandler { entries in
      membership?.use(entries)
      handover.offer(entries)
    }
    membership?.start(
      with: ServerMembership.Lanes(
        look: { handover.look(into: $0) }, isOpen: { handover.isOpen($0) },
        forget: { [indexes] in indexes.forget($0) }))
    store.outbox.setDoubtHandler { handover.raiseDoubt() }
    loop.withLock { loop in
      if loop == nil {
        loop = Task(executorPreference: configuration.executor) { await self.run() }
      }
    }
  }

  /// Returns when every committed change is dispatched and that is stored. After ``stop()`` it
  /// returns at once; before ``start()``, and while commits never pause, it does not return.
  public func settled() async {
    await handover.settled()
  }

  /// Finishes the batches under way, or the present transaction of a change with many firings.
  /// Waiting changes stay in the outbox.
  public func stop() async {
    store.outbox.setCommitHandler(nil)
    store.outbox.setDoubtHandler(nil)
    membership?.drain()
    handover.stop()
    let loop = loop.withLock { $0 }
    // Ends delays, and a long catch-up between two batches. Calls of the store ignore the
    // cancellation.
    loop?.cancel()
    await loop?.value
  }

  private func run() async {
    await withDiscardingTaskGroup { lanes in
      var retry = RetryDelay()
      while true {
        let task = await handover.nextTask()
        switch task {
        case .list, .listAgain:
          do {
            // Once the store has written again, every doubtful commit is settled.
            if task == .listAgain { try await store.health.checkWriting() }
            handover.list(try await waitingParts())
            if task == .listAgain { onRecovered() }
            succeed(&retry)
          } catch {
            handover.failListing()
            await pause(after: error, &retry)
          }
        case .serve(let part):
          lanes.addTask { await self.serve(part) }
        case .stop:
          return
        }
      }
    }
  }

  /// Databases with changes that may not have come in memory. In a cluster, the membership takes
  /// the databases without a lease and reports them.
  private func waitingParts() async throws -> [DatabasePart] {
    guard let membership else {
      return try await store.outbox.undispatchedDatabases().map { .whole($0) }
    }
    return try await membership.leasedParts()
  }

  /// Reports a failure, and waits before the next attempt. Nothing is lost: the changes are still
  /// in the outbox.
  func pause(
    after error: any Error, in part: DatabasePart? = nil, _ retry: inout RetryDelay
  ) async {
    counters.withLock { counters in
      counters.failures += 1
      counters.fault = "\(error)"
    }
    let delay = retry.fail()
    report(.dispatchingFailed(in: part?.database, retryAfter: delay, error))
    if handover.isStopped { return }
    // A cancellation ends the sleep, and the loop with it.
    try? await Task.sleep(for: .seconds(delay))
  }

  func succeed(_ retry: inout RetryDelay) {
    retry.succeed()
    counters.withLock { $0.fault = nil }
  }

  /// Writes the effects of changes.
  func complete(_ changes: [MatchedChange]) async throws {
    KillPoint.afterMatch.reach()
    let result = try await store.outbox.completeDispatch(
      of: changes, timestamp: clock(), leasing: capacity())
    if !result.logged.isEmpty { KillPoint.afterLogging.reach() }
    let logged = clock()
    counters.withLock { counters in
      for change in changes where !change.firings.isEmpty {
        counters.savedToLogged.record(
          logged.seconds - change.entry.change.timestamp.seconds)
      }
      counters.loggedNotifications += result.logged.count
      counters.withheldNotifications += result.withheld.count
      counters.unsentDeliveries += result.unsent
    }
    withheld.add(result.withheld)
    onDispatched(result)
  }
}
