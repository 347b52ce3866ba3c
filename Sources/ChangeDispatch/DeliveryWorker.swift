import CloudKitModel
import PushDelivery
import Storage
import Synchronization

/// Carries deliveries from the store to the devices and their outcomes back.
///
/// A delivery is a row until it has an outcome. New ones come in memory right after they are
/// logged; those of an earlier process, those to be tried again, and those for which there was no
/// room are read from the store.
public final class DeliveryWorker: Sendable {
  public struct Configuration: Sendable {
    /// Deliveries that may be under way at once; the others wait in the store.
    public var capacity = 10_000
    /// Outcomes written in one transaction.
    public var updateBatchSize = 500
    /// How long ``DeliveryWorker/stop()`` waits for outcomes, in seconds.
    public var stopTime = 5.0
    /// How long a delivery waits whose route stands still until an operator has acted, in seconds.
    public var suspensionDelay = 60.0
    /// Where the worker's tasks run; nil is Swift's own pool.
    public var executor: (any TaskExecutor)?

    public init() {}
  }

  /// How delivery is doing.
  public struct Metrics: Sendable, Hashable {
    public var delivered = 0
    public var abandoned = 0
    /// Attempts that are to be repeated.
    public var retried = 0
    public var underWay = 0
  }

  private struct State {
    var schedule: DeliverySchedule
    var updates: [DeliveryUpdate] = []
    var metrics = Metrics()
    /// When waiting for outcomes ends; nil while the worker runs.
    /// By a clock that nobody sets.
    var stopDeadline: ContinuousClock.Instant?

    var isStopped: Bool { stopDeadline != nil }
    var isSettled: Bool { isStopped || schedule.isSettled }
  }

  private let store: any RecordStore
  private let configuration: Configuration
  private let route: @Sendable (DeviceToken) -> PushRoute?
  private let clock: @Sendable () -> Timestamp
  private let random: @Sendable () -> Double
  private let report: @Sendable (String) -> Void
  private let state: Mutex<State>
  private let loaderSignal = WakeSignal()
  private let recorderSignal = WakeSignal()
  private let settlement = Settlement()
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// - Parameters:
  ///   - route: the way to a device; nil when its container is not set up for APNs.
  ///   - random: numbers in 0 ..< 1, for the random part of delays.
  ///   - report: takes a line for the server's log when an operator should know.
  public init(
    store: any RecordStore, configuration: Configuration = Configuration(),
    clock: @escaping @Sendable () -> Timestamp = { .now },
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
    report: @escaping @Sendable (String) -> Void,
    route: @escaping @Sendable (DeviceToken) -> PushRoute?
  ) {
    self.store = store
    self.configuration = configuration
    self.route = route
    self.clock = clock
    self.random = random
    self.report = report
    state = Mutex(State(schedule: DeliverySchedule(capacity: configuration.capacity)))
  }

  public var metrics: Metrics {
    state.withLock { state in
      var metrics = state.metrics
      metrics.underWay = state.schedule.underWay.count
      return metrics
    }
  }

  public func start() {
    tasks.withLock { tasks in
      guard tasks.isEmpty else { return }
      tasks = [
        Task(executorPreference: configuration.executor) { await self.load() },
        Task(executorPreference: configuration.executor) { await self.record() },
      ]
    }
  }

  /// Comes back as soon as no delivery is under way and none is due: each has been sent and its
  /// outcome is in the store. Deliveries that are to be tried again at a later time of the clock are
  /// not waited for. Comes back at once after ``stop()``, and not before ``start()``.
  public func settled() async {
    await settlement.wait { state.withLock { $0.isSettled } }
  }

  /// Looks again for deliveries that are due, as is needed after the clock was set forward.
  public func lookForDueDeliveries() {
    state.withLock { $0.schedule.fallBehind() }
    loaderSignal.signal()
  }

  /// Takes no more deliveries, waits for the outcomes of those under way and writes them, and stops;
  /// after ``Configuration/stopTime`` at the latest. Deliveries without an outcome are sent again by
  /// the next process, with the same `apns-id`.
  public func stop() async {
    let deadline = ContinuousClock.now + .seconds(configuration.stopTime)
    state.withLock { $0.stopDeadline = deadline }
    settlement.come()
    loaderSignal.signal()
    recorderSignal.signal()
    let tasks = tasks.withLock { $0 }
    // Ends the delay after a failure; the store's calls do not notice.
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }

  /// Takes deliveries that were just logged. Those that find no room stay in the store until there
  /// is some.
  public func enqueue(_ deliveries: [Delivery]) {
    let admitted = state.withLock { state in
      state.isStopped ? [] : state.schedule.admit(deliveries)
    }
    for delivery in admitted { send(delivery) }
  }

  // MARK: Sending

  private func send(_ delivery: Delivery) {
    guard let route = route(delivery.device) else {
      let reason =
        "container '\(delivery.device.container)' is not set up for APNs "
        + "(\(delivery.device.apnsEnvironment.rawValue))"
      return finish(delivery, .abandoned(reason: reason))
    }
    let payload = PushPayload(delivery.notification, badge: delivery.badge, form: .apns)
    let push = Push(
      delivery.notification, payload: payload, deviceToken: delivery.device.token,
      topic: route.topic, issued: delivery.logged)
    guard push.expiration > clock() else {
      return finish(delivery, .abandoned(reason: "expired before it could be delivered"))
    }
    route.send(push) { result in self.handle(result, of: delivery) }
  }

  private func handle(_ result: APNsResult, of delivery: Delivery) {
    let outcome = DeliveryOutcome.of(result, attempt: delivery.attempts, random: random())
    let now = clock()
    switch outcome {
    case .delivered:
      finish(delivery, .delivered)
    case .dropDeviceToken(let invalidSince):
      finish(
        delivery, .abandoned(reason: "APNs does not know the device token: \(result)"),
        dropTokenRegisteredBefore: invalidSince ?? now)
    case .retry(let seconds, _):
      finish(delivery, .retry(at: now.advanced(bySeconds: seconds), reason: "\(result)"))
    case .refreshProviderToken:
      // The connection has made a new token and repeated already; its clock may be wrong.
      finish(
        delivery,
        .retry(at: now.advanced(bySeconds: configuration.suspensionDelay), reason: "\(result)"))
    case .suspend(_, let message):
      report("pushes of container '\(delivery.device.container)' stand still: \(message)")
      finish(
        delivery,
        .retry(at: now.advanced(bySeconds: configuration.suspensionDelay), reason: message))
    case .fault(let message):
      report("a push was given up: \(message)")
      finish(delivery, .abandoned(reason: message))
    }
  }

  private func finish(
    _ delivery: Delivery, _ outcome: DeliveryUpdate.State,
    dropTokenRegisteredBefore: Timestamp? = nil
  ) {
    let update = DeliveryUpdate(
      id: delivery.id, state: outcome, timestamp: clock(),
      dropTokenRegisteredBefore: dropTokenRegisteredBefore)
    state.withLock { $0.updates.append(update) }
    recorderSignal.signal()
  }

  // MARK: Recording outcomes

  private func record() async {
    var retry = RetryDelay()
    while true {
      let (updates, isIdle, stopDeadline) = state.withLock { state in
        let updates = Array(state.updates.prefix(configuration.updateBatchSize))
        return (updates, state.schedule.underWay.isEmpty, state.stopDeadline)
      }
      if updates.isEmpty {
        if let stopDeadline {
          let rest = (stopDeadline - .now) / .seconds(1)
          if isIdle || rest <= 0 { return }
          await recorderSignal.wait(atMost: rest)
        } else {
          await recorderSignal.wait()
        }
        continue
      }
      do {
        try await store.updateDeliveries(updates)
        retry.succeed()
        settle(updates)
      } catch {
        if stopDeadline != nil { return }
        let delay = retry.fail()
        report("outcomes of pushes could not be written, trying again in \(delay) s: \(error)")
        try? await Task.sleep(for: .seconds(delay))
      }
    }
  }

  private func settle(_ updates: [DeliveryUpdate]) {
    let (wakesLoader, isSettled) = state.withLock { state in
      state.updates.removeFirst(updates.count)
      state.schedule.finish(updates.lazy.map(\.id))
      for update in updates {
        switch update.state {
        case .delivered: state.metrics.delivered += 1
        case .abandoned: state.metrics.abandoned += 1
        case .retry:
          state.metrics.retried += 1
          // It may be due by the time that the loader asks for the next one.
          state.schedule.fallBehind()
        }
      }
      return (state.schedule.needsLoading, state.isSettled)
    }
    if wakesLoader { loaderSignal.signal() }
    if isSettled { settlement.come() }
  }

  // MARK: Loading from the store

  private func load() async {
    var retry = RetryDelay()
    while !state.withLock({ $0.isStopped }) {
      do {
        // One moment for both: what comes due between two would be in neither answer.
        let now = clock()
        try await loadDue(at: now)
        let next = try await store.nextDeliveryTime(after: now)
        retry.succeed()
        if let next {
          await loaderSignal.wait(atMost: max(0, next.seconds - clock().seconds))
          state.withLock { $0.schedule.fallBehind() }
        } else {
          await loaderSignal.wait()
        }
      } catch {
        state.withLock { $0.schedule.fallBehind() }
        let delay = retry.fail()
        report("waiting pushes could not be read, trying again in \(delay) s: \(error)")
        await loaderSignal.wait(atMost: delay)
      }
    }
  }

  private func loadDue(at now: Timestamp) async throws {
    guard state.withLock({ $0.schedule.needsLoading }) else { return }
    let limit = state.withLock { $0.schedule.beginLoading() }
    let due = try await store.dueDeliveries(at: now, limit: limit)
    let (admitted, isSettled) = state.withLock { state in
      if due.count == limit { state.schedule.fallBehind() }
      let admitted = state.isStopped ? [] : state.schedule.admit(loaded: due)
      return (admitted, state.isSettled)
    }
    for delivery in admitted { send(delivery) }
    if isSettled { settlement.come() }
  }
}
