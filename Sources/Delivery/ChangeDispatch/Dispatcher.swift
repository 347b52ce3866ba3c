import CloudKitModel
import KillPoints
import Measuring
import StoreModel
import Synchronization

/// The dispatcher that turns committed changes into notifications: from the outbox by matching to
/// the notification log and the deliveries.
///
/// Changes come in memory right after their commit. After a crash, undispatched changes are in the
/// outbox and are dispatched at the next start. The rules:
///
/// - The changes of a database are dispatched in the order of their commits, one batch after the
///   other.
/// - Databases are dispatched concurrently, and none waits for another.
/// - The effects of a batch are written in transactions of bounded size. A change with more firings
///   takes several transactions, and the store has its progress.
/// - The dispatch of changes without firings is stored with a later transaction. No task waits for
///   it, and a commit of its own would only delay saves.
///
/// Any thread may call the public methods.
public final class Dispatcher: Sendable {
  /// The limits and times of a dispatcher.
  public struct Configuration: Sendable {
    /// The greatest number of changes in one transaction.
    public var batchSize = 256
    /// The greatest number of firings in one transaction.
    public var firingLimit = 1_000
    /// The greatest number of changes that wait in memory. Further ones are read from the outbox.
    public var handoverCapacity = 10_000
    /// The greatest number of databases that are dispatched at the same time. Others wait in a
    /// queue.
    public var laneLimit = 256
    /// The seconds for which changes without firings may wait for a transaction.
    public var retirementDelay = 0.05
    /// The greatest estimated memory of the databases' matching indexes in bytes. The index that
    /// was used last always stays.
    public var indexBytes = 1 << 30
    /// The number of subscriptions that are read at once to build an index.
    var indexPieceSize = SubscriptionIndexes.pieceSize
    /// Returns whether notifications of deletions in a container carry the last values of the
    /// desired keys.
    public var deletionsCarryLastValues: @Sendable (_ container: String) -> Bool = { _ in false }
    /// The executor of the dispatcher's tasks; `nil` for Swift's global executor.
    public var executor: (any TaskExecutor)?

    /// Creates the default configuration.
    public init() {}
  }

  /// The counters since the dispatcher was created, and its present state.
  public struct Metrics: Sendable, Hashable {
    /// The number of changes that were matched. A change that is repeated after a failure counts
    /// again.
    public var dispatchedChanges = 0
    /// The number of entries of the indexes that matching tested one by one. Equal subscriptions
    /// are one entry. Zone and database subscriptions need no test and are not counted.
    public var candidates = 0
    /// The number of tested entries that fired.
    public var firedCandidates = 0
    /// The number of notifications that were written to the log.
    public var loggedNotifications = 0
    /// The number of notifications that were withheld, because the subscriber may not read the
    /// record.
    public var withheldNotifications = 0
    /// The numbers of deliveries that were not written, by reason.
    public var unsentDeliveries = UnsentDeliveryCounts()
    /// The number of failures of the store that were followed by another attempt.
    public var failures = 0
    /// The last failure; `nil` after a success.
    public var fault: String?
    /// The seconds from the save of a change with firings until its notifications are in the log.
    public var savedToLogged = Histogram(bounds: Histogram.longSeconds)
    /// The number of times that a database's changes had to be read from the outbox.
    public var catchUps = 0
    /// The number of changes that wait in memory.
    public var waitingChanges = 0
    /// The number of matching indexes in memory.
    public var indexes = 0
    /// The approximate memory of the indexes in bytes.
    public var indexBytes = 0
    /// The number of indexes that were read from the store.
    public var indexLoads = 0
    /// The seconds that the reading of all these indexes took.
    public var indexLoadSeconds = 0.0
    /// The number of indexes that were evicted, because others needed the memory.
    public var indexEvictions = 0
  }

  /// The parts of the store that the dispatcher uses.
  let store: DispatchStore
  /// The limits and times.
  let configuration: Configuration
  /// This server's membership in a cluster; `nil` if it uses the store alone.
  let membership: ServerMembership?
  /// The changes that wait in memory, and the lanes that are served.
  let handover: ChangeHandover
  /// The matching indexes.
  let indexes: SubscriptionIndexes
  /// The counters, under a lock.
  let counters = Mutex(Metrics())
  /// Receives the lines for the server's log.
  let report: @Sendable (WorkReport) -> Void
  /// The clock for log entries.
  private let clock: @Sendable () -> Timestamp
  /// Returns the number of deliveries to lease; `nil` to lease none.
  private let capacity: @Sendable () -> DeliveryCapacity?
  /// Receives the result of each transaction.
  private let onDispatched: @Sendable (DispatchResult) -> Void
  /// The closure that is called after a commit with an unknown outcome.
  private let onRecovered: @Sendable () -> Void
  /// The latest withheld notifications.
  private let withheld = WithheldJournal(capacity: 1_000)
  /// The task of ``run()``; `nil` before ``start()``.
  private let loop = Mutex<Task<Void, Never>?>(nil)

  /// Creates a dispatcher. It does nothing before ``start()``.
  ///
  /// - Parameters:
  ///   - membership: This server's membership in a cluster; `nil` if it uses the store alone.
  ///   - clock: The clock for log entries.
  ///   - report: Receives a line for the server's log about a failure.
  ///   - capacity: Returns the number of a transaction's deliveries that `onDispatched` accepts at
  ///     once, leased
  ///     to it. With `nil`, `onDispatched` gets all deliveries without a lease.
  ///   - onDispatched: Receives the result of each transaction, in order for each database.
  ///   - onRecovered: Called when the store writes again after a commit with an unknown outcome.
  ///     `onDispatched` does not receive that commit.
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

  /// The counters and the state of the dispatcher.
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

  /// The latest withheld notifications, at most 1,000, the oldest first.
  public var latestWithheld: [WithheldNotification] { withheld.all }

  /// Starts the dispatcher: it dispatches the outbox first, then changes as they are committed.
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

  /// Returns when every committed change is dispatched and that is stored.
  ///
  /// After ``stop()`` the method returns at once. Before ``start()``, and while commits never
  /// pause, it does not return.
  public func settled() async {
    await handover.settled()
  }

  /// Stops the dispatcher. It finishes the batches under way, or the present transaction of a
  /// change with many firings. Waiting changes stay in the outbox.
  public func stop() async {
    store.outbox.setCommitHandler(nil)
    store.outbox.setDoubtHandler(nil)
    membership?.drain()
    handover.stop()
    let loop = loop.withLock { $0 }
    // The cancellation ends delays, and a long catch-up between two batches. Calls of the store
    // ignore it.
    loop?.cancel()
    await loop?.value
  }

  /// Runs the tasks of the handover until the dispatcher is stopped. Each served lane is a child
  /// task.
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

  /// Returns the databases with changes that may not have come in memory. In a cluster, these are
  /// the databases leased to this server; the membership leases others and reports them.
  private func waitingParts() async throws -> [DatabasePart] {
    guard let membership else {
      return try await store.outbox.undispatchedDatabases().map { .whole($0) }
    }
    return try await membership.leasedParts()
  }

  /// Reports a failure, and waits before the next attempt. No change is lost: all are still in the
  /// outbox.
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

  /// Records a success: the next delay is the shortest one again.
  func succeed(_ retry: inout RetryDelay) {
    retry.succeed()
    counters.withLock { $0.fault = nil }
  }

  /// Writes the effects of changes in one transaction.
  ///
  /// - Throws: ``StoreError``, with the code `outOfOrder` or `leaseLost` if this server must not
  ///   dispatch the changes now.
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
