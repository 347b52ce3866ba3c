import AdminAPI
import ChangeDispatch
import CloudKitModel
import Concurrency
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
  private let executor: (any TaskExecutor)?
  private let client: Reloadable<ClientAPI>
  private let makeClient: @Sendable (ServerConfiguration, WebPushKey?) -> ClientAPI
  /// The paths that the service answers.
  let routes: Routes
  /// The settings of the containers, which the dispatcher and the admin API share.
  private let containers: ContainerSettings
  private let journal: FailureJournal
  /// The queue of each caller's requests.
  private let turns: RequestTurns
  private let courier: WebCourier
  let admin: AdminService
  /// Nil if the server has the store alone.
  private let membership: ServerMembership?
  private let dispatcher: Dispatcher
  private let worker: DeliveryWorker
  private let retention: Retention
  private let census: ShareCensus
  let work: BackgroundWork

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
    let clock = Self.clock(of: store, on: clock)
    let containers = ContainerSettings(configuration.containers)
    let journal = FailureJournal(log: log, clock: clock)
    let courier = WebCourier(of: store, configuration, log: log, clock: clock)
    let pushes = LivePushes()
    let membership = store.servers.map {
      ServerMembership(
        store: $0,
        configuration: ServerMembership.Configuration(url: publicURL, executor: executor),
        report: { log.add($0.isRoutine ? .info : .warning, $0) })
    }
    let worker = DeliveryWorker(
      store: store.deliveries,
      configuration: DeliveryWorker.Configuration(
        configuration.limits, executor: executor, trace: log.pushTrace),
      server: membership.map { membership in { @Sendable in membership.server } }, clock: clock,
      report: { log.add(.warning, $0) }, route: route)
    let receivers = NotificationReceivers(
      worker: worker, courier: courier, pushes: pushes, membership: membership, log: log)
    membership?.handlers = receivers.handlers
    let dispatcher = Dispatcher(
      store: DispatchStore(store),
      configuration: Dispatcher.Configuration(
        configuration.limits, containers, executor: executor),
      membership: membership, clock: clock, report: { log.add(.error, $0) },
      capacity: { worker.capacity() }, onDispatched: { receivers.take($0) },
      onRecovered: { receivers.lookAgain() })
    let retention = Retention(
      maintenance: store.maintenance, log: log, clock: clock,
      logged: { dispatcher.metrics.loggedNotifications })
    let census = ShareCensus(store: store.shareAdministration)
    work = BackgroundWork(
      membership: membership, worker: worker, dispatcher: dispatcher, courier: courier,
      retention: retention,
      indexes: IndexBuilder(maintenance: store.maintenance, log: log),
      deletions: UserDeleter(maintenance: store.maintenance, log: log, clock: clock),
      census: census, log: log)
    let webAuthTokens = WebAuthTokens(
      store: store.accounts, isShared: store.isShared, clock: clock)
    let passwords = PasswordHasher()
    admin = AdminService(
      store: store, configuration: configuration, containers: containers,
      accounts: AdminAccounts(passwords: passwords, webAuthTokens: webAuthTokens),
      gauges: AdminGauges(
        dispatch: { dispatcher.metrics }, delivery: { worker.metrics },
        requests: { journal.metrics }),
      pushes: pushes,
      index: { change, database in
        try await dispatcher.subscriptions(fitting: change, in: database, atMost: 200)
          .map { ($0.names, $0.count) }
      }, journal: journal, log: log, clock: clock,
      publicURL: publicURL)
    let turns = RequestTurns()
    // The content of this object must survive a reload of the configuration, so all client APIs share
    // the object.
    let forgottenSignatures = ForgottenSignatures()
    makeClient = { configuration, webPushKey in
      ClientAPI(
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
    client = Reloadable(makeClient(configuration, webPushKey))
    routes = Routes(client, admin)
    store.quotas.limits = configuration.quotas
    (self.store, self.log, self.executor) = (store, log, executor)
    self.containers = containers
    (self.journal, self.turns, self.courier) = (journal, turns, courier)
    (self.membership, self.dispatcher, self.worker) = (membership, dispatcher, worker)
    (self.retention, self.census) = (retention, census)
  }

  /// Returns the clock of the service. Servers that share a store use the store's clock, because
  /// the clocks of their machines differ.
  private static func clock(
    of store: Store, on machine: @escaping @Sendable () -> Timestamp
  ) -> @Sendable () -> Timestamp {
    if store.servers == nil { return machine }
    return { machine().advanced(bySeconds: store.clockOffset) }
  }

  /// Applies a configuration to later requests. Requests under way finish with the previous
  /// configuration, except that the new quotas and container settings apply at once.
  func reload(_ configuration: ServerConfiguration, webPushKey: WebPushKey?) {
    client.replace(by: makeClient(configuration, webPushKey))
    store.quotas.limits = configuration.quotas
    containers.replace(by: configuration.containers)
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
  var turnMetrics: RequestTurns.Metrics { turns.metrics }
  var deliveryTimes: DeliveryTimes { worker.times }
  var operations: OperationTable { client.value.operations }
  var courierRequestsWaiting: Int { courier.waitingRequestCount }
  /// The number of web courier readers that wait for a notification, and the number of event
  /// streams among them.
  var courierReaders: (waiting: Int, streams: Int) {
    (courier.waitingReaderCount, courier.streamCount)
  }

  /// The latest counts of shares and participants; nil before the first count has ended.
  var shareCounts: ShareCounts? { census.counts }

  /// Returns the body of an answer with which the HTTP server refuses a request itself. The body
  /// has the format of the web services protocol's errors.
  public func body(of refusal: HTTPRefusal) -> Data { journal.body(of: refusal) }

  /// Starts all background work, such as dispatching and delivering. It also processes changes and
  /// deliveries that an earlier process left in the store.
  public func start() { work.start(on: executor) }

  /// Returns the answer to a request. All errors become answers.
  ///
  /// A poll of the web courier is answered when a notification arrives, when its time ends, or when
  /// the task is cancelled. For other requests, a cancellation ends the reads of the store.
  public func respond(to request: HTTPRequest) async -> HTTPResponse {
    switch await routes.examine(request) {
    case .answer(let response): response
    case .receive(_, let answer): await answer(request)
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
    do {
      _ = try await census.count()
      try await retention.trim()
    } catch {
      log.warning("the work after a change of the clock failed", ["cause": .string("\(error)")])
    }
  }

  /// Ends all polls of the web courier and all event streams, and refuses new ones.
  public func endPolls() {
    courier.close()
    admin.close()
  }

  /// Ends polls, and then stops all background work. Changes and deliveries that are not finished remain
  /// in the store.
  public func stop() async {
    endPolls()
    await work.stop()
  }
}
