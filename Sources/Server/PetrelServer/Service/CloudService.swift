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
import WebServices

/// The server without sockets. It answers requests that are passed as values. It dispatches the
/// changes of these requests, which means that it matches them with the subscriptions, and it
/// delivers the pushes.
///
/// ``Server`` connects the service to HTTP and to the push channels. A test can use the service
/// alone:
///
/// ```swift
/// let service = CloudService(
///   configuration: configuration, store: store, publicURL: { "http://test.invalid" },
///   route: { device in PushRoute(topic: "com.example.app") { push, done in … } })
/// service.start()
/// let response = await service.respond(to: HTTPRequest(method: "POST", target: "/database/1/…"))
/// ```
///
/// All methods may be called on any thread. After ``stop()``, the service cannot start again.
public final class CloudService: Sendable {
  private let store: Store
  private let log: ServerLog
  /// The source of the current time. If servers share the store, this is the store's clock.
  private let clock: @Sendable () -> Timestamp
  private let executor: (any TaskExecutor)?
  /// The router for new requests. ``reload(_:webPushKey:)`` replaces it.
  private let currentRouter: Mutex<RequestRouter>
  /// Creates a router for a configuration.
  private let makeRouter: @Sendable (ServerConfiguration, WebPushKey?) -> RequestRouter
  /// The settings of the containers, which the dispatcher and the admin API share.
  private let containers: ContainerSettings
  /// The journal that counts and logs failed requests.
  private let journal: FailureJournal
  /// The queue of each caller's requests.
  private let turns: RequestTurns
  private let courier: WebCourier
  /// The admin API and the console.
  let admin: AdminService
  /// The membership of this server in the cluster of servers that share the store; nil if the
  /// server has the store alone.
  private let membership: ServerMembership?
  private let dispatcher: Dispatcher
  /// The worker that sends pushes.
  private let worker: DeliveryWorker
  /// The task that deletes data beyond its retention.
  private let maintenance = Mutex<Task<Void, Never>?>(nil)
  /// The task that builds and removes indexes after changes of schemas.
  private let indexing = Mutex<Task<Void, Never>?>(nil)
  /// The task that deletes users.
  private let deleting = Mutex<Task<Void, Never>?>(nil)

  /// The counter of shares, for metrics.
  private let shareCensus: ShareCensus
  /// The task of the counter.
  private let counting = Mutex<Task<Void, Never>?>(nil)

  /// Creates a service on an open store. The caller closes the store after the service has stopped.
  ///
  /// - Parameters:
  ///   - clock: the source of the current time for everything that the service does.
  ///   - executor: the executor of the service's own tasks; nil for Swift's default one.
  ///   - publicURL: returns the URL at which clients reach the service. The URLs of the web courier
  ///     begin with it.
  ///   - route: returns the route to a device; nil if the device's container is not configured for
  ///     pushes to it.
  public convenience init(
    configuration: ServerConfiguration, store: Store, log: ServerLog = .standardError(),
    clock: @escaping @Sendable () -> Timestamp = { .now }, executor: (any TaskExecutor)? = nil,
    publicURL: @escaping @Sendable () -> String,
    route: @escaping @Sendable (DeviceToken) -> PushRoute?
  ) {
    self.init(
      configuration: configuration, store: store, log: log, clock: clock, executor: executor,
      publicURL: publicURL, webPushKey: nil, route: route)
  }

  /// - Parameter webPushKey: the key pair of Web Push; nil if Web Push is not configured.
  init(
    configuration: ServerConfiguration, store: Store, log: ServerLog,
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
      pollTime: configuration.courierPollTime,
      streamsPerUser: configuration.limits.eventStreamsPerUser, clock: clock)
    self.courier = courier
    var deliveryConfiguration = DeliveryWorker.Configuration()
    deliveryConfiguration.executor = executor
    deliveryConfiguration.silentPushInterval = configuration.limits.silentPushInterval
    deliveryConfiguration.waitingLimit = configuration.limits.waitingPushes
    deliveryConfiguration.owedLimit = configuration.limits.undeliveredPushes
    deliveryConfiguration.owedLimitOfUser = configuration.limits.undeliveredPushesPerUser
    deliveryConfiguration.trace = log.pushTrace
    shareCensus = ShareCensus(store: store.shareAdministration, log: log)
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
    // The content of this object must survive a reload of the configuration, so all routers share
    // the object.
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

  /// Returns the clock of the service. Servers that share a store use the store's clock, because
  /// the clocks of their machines differ.
  private static func clock(
    of store: Store, on machine: @escaping @Sendable () -> Timestamp
  ) -> @Sendable () -> Timestamp {
    if store.servers == nil { return machine }
    return { machine().advanced(bySeconds: store.clockOffset) }
  }

  /// The router for a new request.
  private var router: RequestRouter { currentRouter.withLock { $0 } }

  /// Applies a configuration to later requests. Requests under way finish with the previous
  /// configuration, except that the new quotas and container settings apply at once.
  func reload(_ configuration: ServerConfiguration, webPushKey: WebPushKey?) {
    let router = makeRouter(configuration, webPushKey)
    currentRouter.withLock { $0 = router }
    store.quotas.limits = configuration.quotas
    containers.replace(configuration.containers)
    admin.reload(configuration)
  }

  /// The metrics of the dispatcher since the start.
  public var dispatchMetrics: Dispatcher.Metrics { dispatcher.metrics }
  /// The latest notifications that were withheld because the subscriber may not read the record.
  public var latestWithheld: [WithheldNotification] { dispatcher.latestWithheld }
  /// The metrics of the delivery worker since the start.
  public var deliveryMetrics: DeliveryWorker.Metrics { worker.metrics }
  /// The metrics of the cluster membership; nil if this server has the store alone.
  public var membershipMetrics: ServerMembership.Metrics? { membership?.metrics }
  /// The counts of failed requests since the start.
  public var requestMetrics: RequestMetrics { journal.metrics }
  /// The metrics of the queues in which callers' requests wait.
  var turnMetrics: RequestTurns.Metrics { turns.metrics }
  /// The histograms of the steps of a push.
  var deliveryTimes: DeliveryTimes { worker.times }
  /// The operations of the web services protocol.
  var operations: OperationTable { router.operations }
  /// The number of web courier requests that wait to be processed.
  var courierRequestsWaiting: Int { courier.waitingRequestCount }
  /// The number of web courier readers that wait for a notification, and the number of event
  /// streams among them.
  var courierReaders: (waiting: Int, streams: Int) {
    (courier.waitingReaderCount, courier.streamCount)
  }

  /// The latest counts of shares and participants; nil before the first count has ended.
  var shareCounts: ShareCounts? { shareCensus.counts }

  /// Returns the body of an answer with which the HTTP server refuses a request itself. The body
  /// has the format of the web services protocol's errors.
  public func body(of refusal: HTTPRefusal) -> Data { journal.body(of: refusal) }

  /// Starts the dispatcher, the delivery worker and the background tasks. These also process
  /// changes and deliveries that an earlier process left in the store.
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
    counting.withLock { [shareCensus, executor] counting in
      if counting == nil {
        counting = Task(executorPreference: executor) { await shareCensus.run() }
      }
    }
  }

  /// Returns the answer to a request. All errors become answers.
  ///
  /// A poll of the web courier is answered when a notification arrives, when its time ends, or when
  /// the task is cancelled. For other requests, a cancellation ends the reads of the store.
  public func respond(to request: HTTPRequest) async -> HTTPResponse {
    switch await examine(request) {
    case .answer(let response): response
    case .receive(_, let answer): await answer(request)
    }
  }

  /// Returns the answer to a request if its head is enough for one, and otherwise the function that
  /// answers the request with its body. All errors become answers.
  func examine(_ head: HTTPRequest) async -> HTTPDecision {
    do {
      try head.checkTexts()
    } catch {
      return .answer(HTTPResponse(error))
    }
    let router = router
    let path = head.path
    if path == WebCourier.path {
      return .receive { await CourierRequest($0, router: router).answer() }
    }
    let decision = await AbandonableReads.within {
      AdminService.isPath(path) ? await admin.examine(head) : await router.examine(head)
    }
    guard case .receive(let account, let answer) = decision else { return decision }
    let isPage = SignIn.isPath(path) || SharePages.isPath(path) || Console.isPath(path)
    return .receive(account: account) { request in
      if isPage {
        do throws(ServiceError) {
          try request.checkForm()
        } catch {
          return HTTPResponse(error)
        }
      }
      return await AbandonableReads.within { await answer(request) }
    }
  }

  /// Waits until every committed change is dispatched, every due push is sent, and the outcomes are
  /// stored. The method does not wait for pushes whose next attempt is later.
  public func settle() async {
    await dispatcher.settled()
    await worker.settled()
  }

  /// The number of polls of the web courier that wait and have nothing to read.
  public var suspendedPollCount: Int { courier.suspendedReaderCount }

  /// Does the work that became due when the clock was set forward. It sends pushes that are due,
  /// ends polls whose time is over, counts the shares, and deletes data beyond its retention.
  public func followClock() async {
    worker.lookForDueDeliveries()
    courier.endOverduePolls()
    await shareCensus.count()
    await trim()
  }

  /// Ends all polls of the web courier and all event streams, and refuses new ones.
  public func endPolls() {
    courier.close()
    admin.close()
  }

  /// Ends polls, and then stops the dispatcher, the delivery worker and the background tasks.
  /// Changes and deliveries that are not finished remain in the store.
  public func stop() async {
    endPolls()
    maintenance.withLock { $0 }?.cancel()
    indexing.withLock { $0 }?.cancel()
    deleting.withLock { $0 }?.cancel()
    counting.withLock { $0 }?.cancel()
    await dispatcher.stop()
    await worker.stop()
    await membership?.stop()
  }

  /// Deletes data beyond its retention now, and again whenever ``RetentionSchedule`` says so. It
  /// deletes nothing while ``ClockWatch`` reports a jump of the clock. The method returns when the
  /// task is cancelled.
  private func maintain() async {
    let watch = ClockWatch(at: clock(), steady: .now)
    while !Task.isCancelled {
      let logged = dispatcher.metrics.loggedNotifications
      let began = ContinuousClock.now
      if watch.mayTrim(at: clock(), steady: began) {
        await trim()
      } else {
        log.warning(
          "the clock was set forward, so the server deletes nothing by its age; restart the server "
            + "if the clock is right",
          ["seconds": .double(watch.jump(at: clock(), steady: began))])
      }
      let schedule = RetentionSchedule(began: began, ended: .now, logged: logged)
      repeat {
        // A cancellation ends the sleep, and then the loop.
        try? await Task.sleep(for: RetentionSchedule.step)
      } while !Task.isCancelled
        && !schedule.isDue(at: .now, logged: dispatcher.metrics.loggedNotifications)
    }
  }

  /// Deletes data beyond its retention. A failure is logged, and the next pass tries again.
  private func trim() async {
    do {
      try await store.maintenance.trim(at: clock())
    } catch {
      // After a cancellation the store may be closed, which is no fault.
      guard !Task.isCancelled else { return }
      log.warning("old notifications could not be deleted", ["cause": .string("\(error)")])
    }
  }
}
