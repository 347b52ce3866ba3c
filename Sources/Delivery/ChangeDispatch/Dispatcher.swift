import CloudKitModel
import KillPoints
import Measuring
import StoreModel
import Synchronization

/// Turns committed changes into notifications: outbox → match → notification log and deliveries.
///
/// Changes come in memory right after their commit. Whatever was not dispatched when a process
/// died waits in the outbox and is dispatched at the next start. Within a database changes are
/// dispatched in the order of their commits, one batch after the other; different databases go
/// side by side, and none waits for another. What a batch led to is written in transactions of
/// bounded size; a change with more firings takes several, and the store keeps how far it is. That a
/// change which fires nothing is dispatched is stored with a later transaction: nobody waits for it,
/// and a commit of its own would only delay the saves.
public final class Dispatcher: Sendable {
  public struct Configuration: Sendable {
    /// Changes in one transaction.
    public var batchSize = 256
    /// Firings in one transaction.
    public var firingLimit = 1_000
    /// Changes that may wait in memory; beyond it they are read from the outbox.
    public var handoverCapacity = 10_000
    /// Databases that are dispatched at the same time; others wait for their turn.
    public var laneLimit = 256
    /// How long changes that fired nothing may wait for a transaction to go with, in seconds.
    public var retirementDelay = 0.05
    /// Bytes of memory for the databases' matching indexes, as estimated. The index that was used
    /// last stays in any case.
    public var indexBytes = 1 << 30
    /// Subscriptions that are read at once when an index is made.
    var indexPieceSize = SubscriptionIndexes.pieceSize
    /// Whether notifications of deletions in this container carry the last values of the desired
    /// keys.
    public var deletionsCarryLastValues: @Sendable (_ container: String) -> Bool = { _ in false }
    /// Where the dispatcher's tasks run; nil is Swift's own pool.
    public var executor: (any TaskExecutor)?

    public init() {}
  }

  /// How the dispatcher is doing.
  public struct Metrics: Sendable, Hashable {
    public var dispatchedChanges = 0
    /// What matching looked at one by one: subscriptions that an index holds ready for a value of the
    /// change, those that ask the same counting as one. Zone and database subscriptions are found
    /// without, and are not among them.
    public var candidates = 0
    /// Those among them that fired.
    public var firedCandidates = 0
    public var loggedNotifications = 0
    /// Notifications that subscribers did not get because they may not read the record.
    public var withheldNotifications = 0
    /// Deliveries that were not written.
    public var unsentDeliveries = UnsentDeliveryCounts()
    /// Transactions that failed and were tried again.
    public var failures = 0
    /// Why the last one failed; nil when something went well since.
    public var fault: String?
    /// Seconds from the save of a change that fires something to what it fires standing in the
    /// notification log.
    public var savedToLogged = Histogram(bounds: Histogram.longSeconds)
    /// Times that a database's changes had to be read from the outbox.
    public var catchUps = 0
    public var waitingChanges = 0
    /// Matching indexes in memory.
    public var indexes = 0
    /// About how much memory they take.
    public var indexBytes = 0
    /// Indexes that were read from the store, and the seconds that it took for all of them.
    public var indexLoads = 0
    public var indexLoadSeconds = 0.0
    /// Indexes that were given up because others needed the memory.
    public var indexEvictions = 0
  }

  let store: DispatchStore
  let configuration: Configuration
  /// This server among those that share the store; nil when it has it alone.
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
  ///   - presence: this server among those that share the store; nil when it has it alone.
  ///   - clock: the time that log entries bear.
  ///   - report: takes a line for the server's log when something fails.
  ///   - capacity: how many of the deliveries of a transaction `onDispatched` takes at once; they are
  ///     leased to it. Without it all come, unleased.
  ///   - onDispatched: is called with the result of each transaction, in order for each database.
  ///   - onRecovered: is called when the store writes again after a commit of which it could not be known
  ///     whether it is there. Of such a one `onDispatched` does not tell.
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

  /// The latest notifications that were withheld, with the reasons; 1,000 at most.
  public var latestWithheld: [WithheldNotification] { withheld.all }

  /// Begins with what the outbox holds, then takes changes as they are committed.
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

  /// Comes back as soon as every change that was committed is dispatched and that is stored.
  /// Comes back at once after ``stop()``, and not before ``start()``. While commits never pause it
  /// does not come back.
  public func settled() async {
    await handover.settled()
  }

  /// Finishes the batches that are under way; of a change with many firings, the transaction. What
  /// waits is in the outbox.
  public func stop() async {
    store.outbox.setCommitHandler(nil)
    store.outbox.setDoubtHandler(nil)
    membership?.drain()
    handover.stop()
    let loop = loop.withLock { $0 }
    // Ends delays, and a long catching up between two batches; the store's calls do not notice.
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
            // Whatever was in doubt is decided when the store has written again.
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

  /// Databases that have changes which may not have come in memory. Of those that nobody dispatches the
  /// server's presence tells when it has taken them.
  private func waitingParts() async throws -> [DatabasePart] {
    guard let membership else {
      return try await store.outbox.undispatchedDatabases().map { .whole($0) }
    }
    return try await membership.leasedParts()
  }

  /// Tells that something failed, and waits before it is tried again. Nothing is lost: what failed
  /// is in the outbox still.
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

  /// Writes what changes led to.
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
