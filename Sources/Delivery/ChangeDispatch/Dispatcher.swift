import CloudKitModel
import Concurrency
import KillPoints
import Measuring
import PushChannels
import Storage
import StoreModel
import Synchronization

/// The dispatcher that turns committed changes into notifications. It matches the changes with the
/// subscriptions, and writes entries of the notification log and deliveries.
///
/// The store passes changes to the dispatcher in memory, right after their commit. The *outbox* is
/// the table of the changes that are not yet dispatched. After a crash, the next start dispatches
/// them from there. A *firing* is one subscription that a change matches. The rules:
///
/// - The changes of a database are dispatched in the order of their commits, one batch after the
///   other.
/// - Databases are dispatched concurrently, up to ``Configuration/laneLimit`` at a time.
/// - The effects of a batch are written in transactions of bounded size. A change with more firings
///   takes several transactions, and the store records the progress.
/// - The dispatch of changes without firings is recorded in a later transaction. No task waits for
///   this record, and a transaction of its own would only delay saves.
///
/// Any thread may call the public methods.
public final class Dispatcher: Sendable {
  /// The limits and times of a dispatcher.
  public struct Configuration: Sendable {
    /// The greatest number of changes in one transaction.
    public var batchSize = 1_024
    /// The greatest number of firings in one transaction.
    public var firingLimit = 1_000
    /// The size in bytes of encoded notifications after which a transaction gets no further firing.
    public var byteLimit = 1 << 20
    /// The number of firings of one subscriber in a batch of changes above which the subscriber's
    /// firings are deferred (`DeferredWork`). If the batch has more than eight times as many firings, an
    /// eighth of the number applies. The number is greater than that of the subscriptions that one
    /// user may have by default, so one user alone is not deferred by a single change.
    public var firingsOfSubscriber = 512
    /// The same limit for the matching cost of one subscriber (`MatchingCosts`): a few milliseconds, as
    /// long as so many firings take.
    var costOfSubscriber = 1 << 21
    /// The greatest number of changes that are matched at once for a deferred subscriber.
    var deferredBatchSize = 8_192
    /// The greatest number of changes that wait for a deferred subscriber.
    var deferredChanges = 65_536
    /// The greatest number of changes that wait in memory. Further changes are read from the
    /// outbox.
    public var handoverCapacity = 10_000
    /// The greatest number of lanes that are served at the same time. A *lane* is the dispatch of
    /// one database, or of one part of a divided database. Other lanes wait in a queue.
    public var laneLimit = 256
    /// The greatest time in seconds for which changes without firings wait for a transaction.
    public var retirementDelay = 0.05
    /// The greatest estimated memory of the databases' matching indexes in bytes. The index that
    /// was used last always stays.
    public var indexBytes = 1 << 30
    /// The number of subscriptions that one call reads from the store to build an index.
    var indexPieceSize = SubscriptionIndexes.pieceSize
    /// Returns whether the notification of a deletion contains the record's last values for the
    /// desired keys. `container` is the container's ID.
    public var deletionsCarryLastValues: @Sendable (_ container: String) -> Bool = { _ in false }
    /// The executor of the dispatcher's tasks; `nil` for Swift's global executor.
    public var executor: (any TaskExecutor)?

    /// Creates the default configuration.
    public init() {}
  }

  /// The counters since the dispatcher was created, and its present state.
  public struct Metrics: Sendable, Hashable {
    /// The number of changes that were matched. A change that is repeated after a failure counts
    /// again. Of a divided database, only part 0 counts the changes.
    public var dispatchedChanges = 0
    /// The number of entries of the indexes that matching tested one by one. Equal subscriptions
    /// are one entry. Zone and database subscriptions need no test and are not counted.
    public var candidates = 0
    /// The number of tested entries that matched.
    public var firedCandidates = 0
    /// The number of notifications that were written to the log.
    public var loggedNotifications = 0
    /// The number of participants of shares for whom the notifications of changes are being written,
    /// counted once for each batch of changes.
    public var waitingForwards = 0
    /// The number of notifications that were withheld, because the subscriber may not read the
    /// record.
    public var withheldNotifications = 0
    /// The number of subscribers whose firings are deferred now.
    public var deferredSubscribers = 0
    /// The number of changes whose firings for a deferred subscriber were not logged, because newer
    /// ones fill the subscriber's log.
    public var skippedChanges = 0
    /// The number of changes whose firings for a deferred subscriber were given up, because too many
    /// changes waited.
    public var givenUpChanges = 0
    /// The numbers of deliveries that were not written, by reason.
    public var unsentDeliveries = UnsentDeliveryCounts()
    /// The number of failures after which the dispatcher waits and tries again.
    public var failures = 0
    /// The last failure; `nil` after a success.
    public var fault: String?
    /// The seconds from the save of a change until its notifications are in the log, once for each
    /// transaction of a change with firings. Deferred firings do not count.
    public var savedToLogged = Histogram(bounds: Histogram.longSeconds)
    /// The number of times that a lane had to read its changes from the outbox.
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
    /// The number of indexes that were removed from memory, because others needed the space.
    public var indexEvictions = 0
  }

  let store: DispatchStore
  let configuration: Configuration
  /// This server's membership in a cluster; `nil` if it uses the store alone.
  let membership: ServerMembership?
  /// The queue of the changes that wait in memory, and the state of the lanes.
  let handover: ChangeHandover
  let indexes: SubscriptionIndexes
  let counters = Mutex(Metrics())
  let report: @Sendable (WorkReport) -> Void
  private let clock: @Sendable () -> Timestamp
  /// Returns the number of deliveries of a transaction to lease to `onDispatched`; `nil` to lease
  /// none.
  private let capacity: @Sendable () -> DeliveryCapacity?
  /// How the dispatching goes, in the list of background work.
  package let job = BackgroundJob("dispatch", of: "ChangeDispatch", "when a change is committed")
  private let onDispatched: @Sendable (DispatchResult) -> Void
  /// The closure that is called when the store works again after a commit with an unknown outcome.
  private let onRecovered: @Sendable () -> Void
  private let withheld = WithheldJournal(capacity: 1_000)
  /// The task of ``run()``; `nil` before ``start()``.
  private let loop = Mutex<Task<Void, Never>?>(nil)

  /// Creates a dispatcher. It does nothing before ``start()``.
  ///
  /// - Parameters:
  ///   - membership: This server's membership in a cluster; `nil` if it uses the store alone.
  ///   - clock: The clock for log entries.
  ///   - report: Receives the lines for the server's log, which report failures.
  ///   - capacity: Returns the number of a transaction's deliveries that `onDispatched` can accept.
  ///     The transaction leases these deliveries to the caller. With `nil`, `onDispatched` receives
  ///     all deliveries without a lease.
  ///   - onDispatched: Receives the result of each transaction, in order for each database.
  ///   - onRecovered: Called when the store can write again after a commit with an unknown outcome.
  ///     `onDispatched` does not receive the result of that commit.
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

  /// Starts the dispatcher. It first dispatches the changes in the outbox, then each change after
  /// its commit. A second call starts no second task.
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

  /// Returns when every committed change is dispatched and the store has recorded this.
  ///
  /// After ``stop()`` the method returns at once. Before ``start()``, and while commits never
  /// pause, it does not return.
  public func settled() async {
    await handover.settled()
  }

  /// Stops the dispatcher. The call waits for the batches under way; of a batch with several
  /// transactions, it waits only for the present one. Other changes stay in the outbox.
  public func stop() async {
    store.outbox.setCommitHandler(nil)
    store.outbox.setDoubtHandler(nil)
    membership?.drain()
    handover.stop()
    let loop = loop.withLock { $0 }
    // The cancellation ends delays after failures, and the reading of an index between two pieces.
    // Calls of the store ignore the cancellation.
    loop?.cancel()
    await loop?.value
  }

  /// Runs the tasks that ``ChangeHandover/nextTask()`` returns, until the dispatcher is stopped.
  /// Each served lane is a child task.
  private func run() async {
    await withDiscardingTaskGroup { lanes in
      var retry = StoreBackoff()
      while true {
        let task = await handover.nextTask()
        switch task {
        case .list, .listAgain:
          do {
            // After a successful write, the outcome of every earlier commit is known.
            if task == .listAgain { try await store.checkWriting() }
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

  /// Returns the databases whose outbox may have changes that the store did not pass in memory. In
  /// a cluster, these are the databases leased to this server. The membership reports further
  /// databases when it leases them.
  private func waitingParts() async throws -> [DatabasePart] {
    guard let membership else {
      return try await store.outbox.undispatchedDatabases().map { .whole($0) }
    }
    return try await membership.leasedParts()
  }

  /// Reports a failure, and waits before the next attempt. No change is lost, because all
  /// undispatched changes are in the outbox.
  func pause(
    after error: any Error, in part: DatabasePart? = nil, _ retry: inout StoreBackoff
  ) async {
    counters.withLock { counters in
      counters.failures += 1
      counters.fault = "\(error)"
    }
    job.fail(error)
    let delay = retry.fail()
    report(.dispatchingFailed(in: part?.database, retryAfter: delay, error))
    if handover.isStopped { return }
    // A cancellation ends the sleep. The loop then finds that the dispatcher is stopped.
    try? await Task.sleep(for: .seconds(delay))
  }

  /// Records a success: the next delay is the shortest one again, and ``Metrics/fault`` becomes
  /// `nil`.
  func succeed(_ retry: inout StoreBackoff) {
    retry.succeed()
    job.succeed()
    counters.withLock { $0.fault = nil }
  }

  /// Writes the effects of changes in one transaction.
  ///
  /// - Returns: The subscribers whose firings are deferred, in the parts of the changes.
  /// - Throws: `StoreError`. The code is `outOfOrder` if earlier changes must be dispatched first,
  ///   and `leaseLost` if another server has the lease.
  @discardableResult
  func complete(_ changes: [MatchedChange]) async throws -> [String] {
    KillPoint.afterMatch.reach()
    let result = try await store.outbox.completeDispatch(
      of: changes, timestamp: clock(), leasing: capacity())
    if !result.logged.isEmpty { KillPoint.afterLogging.reach() }
    let logged = clock()
    counters.withLock { counters in
      for change in changes where !change.firings.isEmpty && change.entry.deferral == nil {
        counters.savedToLogged.record(
          logged.seconds - change.entry.change.timestamp.seconds)
      }
      counters.loggedNotifications += result.logged.count
      counters.withheldNotifications += result.withheld.count
      counters.skippedChanges += changes.reduce(0) { $0 + ($1.isSkipped ? 1 : 0) }
      counters.unsentDeliveries += result.unsent
    }
    withheld.add(result.withheld)
    onDispatched(result)
    return result.deferred
  }
}
