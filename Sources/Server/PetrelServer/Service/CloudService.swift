import AdminAPI
import ChangeDispatch
import CloudKitModel
import Configuration
import DatabaseAPI
import Foundation
import HTTPService
import Logging
import PushChannels
import Storage
import StoreModel
import Synchronization

/// The server without its sockets: answers requests that come as values, dispatches what they
/// change and delivers the pushes.
///
/// ``Server`` puts it behind HTTP and APNs. A test can run it by itself:
///
/// ```swift
/// let service = CloudService(
///   configuration: configuration, store: store, publicURL: { "http://test.invalid" },
///   route: { device in PushRoute(topic: "com.example.app") { push, done in … } })
/// service.start()
/// let response = await service.respond(to: HTTPRequest(method: "POST", target: "/database/1/…"))
/// ```
public final class CloudService: Sendable {
  private let store: any Store
  private let log: ServerLog
  private let clock: @Sendable () -> Timestamp
  private let executor: (any TaskExecutor)?
  private let currentRouter: Mutex<RequestRouter>
  private let makeRouter: @Sendable (ServerConfiguration, WebPushKey?) -> RequestRouter
  private let containers: ContainerSettings
  private let journal: FailureJournal
  private let turns: RequestTurns
  private let courier: WebCourier
  let admin: AdminService
  private let membership: ServerMembership?
  private let dispatcher: Dispatcher
  private let worker: DeliveryWorker
  private let maintenance = Mutex<Task<Void, Never>?>(nil)
  private let indexing = Mutex<Task<Void, Never>?>(nil)
  private let deleting = Mutex<Task<Void, Never>?>(nil)

  /// Makes a service over an open store. The store is not closed when the service stops.
  ///
  /// - Parameters:
  ///   - clock: the time of everything that the service does.
  ///   - executor: where the service's own tasks run; nil is Swift's own pool.
  ///   - publicURL: the URL that clients reach the service at; web courier URLs begin with it.
  ///   - route: the way to a device; nil when no pushes leave for its container.
  public convenience init(
    configuration: ServerConfiguration, store: any Store, log: ServerLog = .standardError(),
    clock: @escaping @Sendable () -> Timestamp = { .now }, executor: (any TaskExecutor)? = nil,
    publicURL: @escaping @Sendable () -> String,
    route: @escaping @Sendable (DeviceToken) -> PushRoute?
  ) {
    self.init(
      configuration: configuration, store: store, log: log, clock: clock, executor: executor,
      publicURL: publicURL, webPushKey: nil, route: route)
  }

  /// - Parameter webPushKey: the key of Web Push; nil where there is none.
  init(
    configuration: ServerConfiguration, store: any Store, log: ServerLog,
    clock: @escaping @Sendable () -> Timestamp, executor: (any TaskExecutor)?,
    publicURL: @escaping @Sendable () -> String, webPushKey: WebPushKey?,
    route: @escaping @Sendable (DeviceToken) -> PushRoute?
  ) {
    self.store = store
    store.quotas.limits = configuration.quotas
    self.log = log
    let clock = Self.clock(of: store, on: clock)
    self.clock = clock
    self.executor = executor
    let courier = WebCourier(
      store: store.courier, devices: store.devices, tokens: store.secrets.tokens,
      pollTime: configuration.courierPollTime, clock: clock)
    self.courier = courier
    var deliveryConfiguration = DeliveryWorker.Configuration()
    deliveryConfiguration.executor = executor
    deliveryConfiguration.silentPushInterval = configuration.limits.silentPushInterval
    deliveryConfiguration.waitingLimit = configuration.limits.waitingPushes
    deliveryConfiguration.owedLimit = configuration.limits.undeliveredPushes
    deliveryConfiguration.owedLimitOfUser = configuration.limits.undeliveredPushesPerUser
    deliveryConfiguration.trace = log.pushTrace
    let pushes = LivePushes()
    let membership: ServerMembership? =
      if let servers = store.servers {
        ServerMembership(
          store: servers,
          configuration: ServerMembership.Configuration(url: publicURL, executor: executor),
          report: { log.add($0.isRoutine ? .info : .warning, $0) })
      } else {
        nil
      }
    self.membership = membership
    let worker = DeliveryWorker(
      store: store.deliveries, configuration: deliveryConfiguration,
      server: membership.map { membership in { @Sendable in membership.server } }, clock: clock,
      report: { log.add(.warning, $0) }, route: route)
    self.worker = worker
    membership?.handlers = ServerMembership.Handlers(
      onServersGone: { worker.takeOver() },
      onAnnounced: { names in
        if let names { courier.wake(names) } else { courier.wakeAll() }
      },
      isListening: { courier.waitingReaderCount > 0 })
    var dispatchConfiguration = Dispatcher.Configuration()
    dispatchConfiguration.executor = executor
    dispatchConfiguration.indexBytes = configuration.limits.matchingIndexBytes
    let settings = ContainerSettings(configuration.containers)
    containers = settings
    dispatchConfiguration.deletionsCarryLastValues = { settings[$0].deletionsCarryLastValues }
    let dispatcher = Dispatcher(
      store: DispatchStore(store), configuration: dispatchConfiguration, membership: membership,
      clock: clock,
      report: { log.add(.error, $0) }, capacity: { worker.capacity() },
      onDispatched: { result in
        worker.enqueue(result.deliveries, waiting: result.waiting)
        pushes.add(result.logged)
        let subscribers = Set(result.logged.map(\.notification.subscriber))
        courier.wake(subscribers)
        membership?.announce(subscribers)
        log.trace(result.logged)
      },
      onRecovered: {
        worker.lookForDueDeliveries()
        courier.wakeAll()
      })
    self.dispatcher = dispatcher
    let journal = FailureJournal(log: log, clock: clock)
    self.journal = journal
    let webAuthTokens = WebAuthTokens(
      store: store.accounts, isShared: store.isShared, clock: clock)
    let passwords = PasswordHasher()
    let admin = AdminService(
      store: store, configuration: configuration, containers: settings,
      accounts: AdminAccounts(passwords: passwords, webAuthTokens: webAuthTokens),
      gauges: AdminGauges(
        dispatch: { dispatcher.metrics }, delivery: { worker.metrics },
        requests: { journal.metrics }),
      pushes: pushes,
      index: { change, database in
        try await dispatcher.subscriptions(fitting: change, in: database, atMost: 200)
          .map { ($0.names, $0.count) }
      }, journal: journal, log: log, clock: clock, publicURL: publicURL)
    self.admin = admin
    let turns = RequestTurns()
    self.turns = turns
    // What they know outlives a reload of the configuration.
    let forgottenSignatures = ForgottenSignatures()
    makeRouter = { configuration, webPushKey in
      RequestRouter(
        store: store, configuration: configuration, courier: courier,
        webAuthTokens: webAuthTokens, journal: journal, clock: clock, publicURL: publicURL,
        signIn: SignIn(
          settings: configuration.signIn,
          addressHeader: configuration.limits.clientAddressHeader, accounts: store.accounts,
          secrets: store.secrets,
          sharing: store.sharedLimits, passwords: passwords, log: log, clock: clock,
          publicURL: publicURL),
        webPushKey: webPushKey, turns: turns, forgottenSignatures: forgottenSignatures)
    }
    currentRouter = Mutex(makeRouter(configuration, webPushKey))
  }

  /// Servers that share a store go by its clock.
  private static func clock(
    of store: any SharedStore, on machine: @escaping @Sendable () -> Timestamp
  ) -> @Sendable () -> Timestamp {
    if store.servers == nil { return machine }
    return { machine().advanced(bySeconds: store.clockOffset) }
  }

  private var router: RequestRouter { currentRouter.withLock { $0 } }

  /// Answers later requests by another configuration; those under way go on by the one before.
  func reload(_ configuration: ServerConfiguration, webPushKey: WebPushKey?) {
    let router = makeRouter(configuration, webPushKey)
    currentRouter.withLock { $0 = router }
    store.quotas.limits = configuration.quotas
    containers.replace(configuration.containers)
    admin.reload(configuration)
  }

  public var dispatchMetrics: Dispatcher.Metrics { dispatcher.metrics }
  /// The latest notifications that subscribers did not get because they may not read the record.
  public var latestWithheld: [WithheldNotification] { dispatcher.latestWithheld }
  public var deliveryMetrics: DeliveryWorker.Metrics { worker.metrics }
  /// This server among those that share the store; nil when it has it alone.
  public var membershipMetrics: ServerMembership.Metrics? { membership?.metrics }
  public var requestMetrics: RequestMetrics { journal.metrics }
  /// Requests that wait for others of their callers.
  var turnMetrics: RequestTurns.Metrics { turns.metrics }
  var deliveryTimes: DeliveryTimes { worker.times }
  var operations: OperationTable { router.operations }
  /// Requests of the web courier that wait to be looked after.
  var courierRequestsWaiting: Int { courier.waitingRequestCount }
  /// Readers of the web courier that wait for a notification, and those among them that have an event stream.
  var courierReaders: (waiting: Int, streams: Int) {
    (courier.waitingReaderCount, courier.streamCount)
  }

  /// The body for a request that the HTTP server in front refuses by itself, in the protocol's form.
  public func body(of refusal: HTTPRefusal) -> Data { journal.body(of: refusal) }

  /// Begins to dispatch and deliver, with what an earlier process left.
  public func start() {
    worker.start()
    dispatcher.start()
    maintenance.withLock { maintenance in
      if maintenance == nil {
        maintenance = Task(executorPreference: executor) { await self.maintain() }
      }
    }
    indexing.withLock { [store, log, executor] indexing in
      if indexing == nil {
        indexing = Task(executorPreference: executor) {
          await IndexBuilder(maintenance: store.maintenance, log: log).run()
        }
      }
    }
    deleting.withLock { [store, log, clock, executor] deleting in
      if deleting == nil {
        deleting = Task(executorPreference: executor) {
          await UserDeleter(maintenance: store.maintenance, log: log, clock: clock).run()
        }
      }
    }
  }

  /// The answer to a request; never fails, for what goes wrong is in the answer.
  ///
  /// A poll of the web courier is answered when there is a notification, when its time is up, or
  /// when the task is cancelled. Other requests read no further when it is.
  public func respond(to request: HTTPRequest) async -> HTTPResponse {
    do {
      try request.checkTexts()
      if SignIn.isPath(request.path) || Console.isPath(request.path) { try request.checkForm() }
    } catch {
      return HTTPResponse(error)
    }
    let router = router
    if request.path == WebCourier.path {
      return await CourierRequest(request, router: router).answer()
    }
    return await AbandonableReads.within {
      if AdminService.isPath(request.path) { return await admin.respond(to: request) }
      return await router.respond(to: request)
    }
  }

  /// Comes back as soon as every change that was committed has been dispatched, every push that is
  /// due was sent, and the outcomes are in the store. Pushes that are to be tried again later are
  /// not waited for.
  public func settle() async {
    await dispatcher.settled()
    await worker.settled()
  }

  /// Does what has come due by a clock that was set forward: pushes that wait for another attempt,
  /// polls whose time is up, what is beyond its retention.
  public func followClock() async {
    worker.lookForDueDeliveries()
    courier.endOverduePolls()
    await trim()
  }

  /// Ends all polls of the web courier and all event streams, now and from now on.
  public func endPolls() {
    courier.close()
    admin.close()
  }

  /// Ends polls, then stops dispatching and delivering. What was not dispatched or delivered is in
  /// the store.
  public func stop() async {
    endPolls()
    maintenance.withLock { $0 }?.cancel()
    indexing.withLock { $0 }?.cancel()
    deleting.withLock { $0 }?.cancel()
    await dispatcher.stop()
    await worker.stop()
    await membership?.stop()
  }

  /// Trims what is beyond its retention, now and whenever that is due again.
  private func maintain() async {
    let watch = ClockWatch(at: clock(), steady: .now)
    while !Task.isCancelled {
      let logged = dispatcher.metrics.loggedNotifications
      let began = ContinuousClock.now
      if watch.mayTrim(at: clock(), steady: began) {
        await trim()
      } else {
        log.warning(
          "the clock was set forward, so nothing is deleted by its age; restart the server if the "
            + "time is right now",
          ["seconds": .double(watch.jump(at: clock(), steady: began))])
      }
      let schedule = RetentionSchedule(began: began, ended: .now, logged: logged)
      repeat {
        // A cancellation ends the sleep, and the loop with it.
        try? await Task.sleep(for: RetentionSchedule.step)
      } while !Task.isCancelled
        && !schedule.isDue(at: .now, logged: dispatcher.metrics.loggedNotifications)
    }
  }

  private func trim() async {
    do {
      try await store.maintenance.trim(at: clock())
    } catch {
      // Who stops the service may close the store at once.
      guard !Task.isCancelled else { return }
      log.warning("old notifications could not be trimmed", ["cause": .string("\(error)")])
    }
  }
}
