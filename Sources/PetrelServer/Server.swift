import ChangeDispatch
import CloudKitModel
import HTTPService
import Storage
import Synchronization

/// A whole server: the store's endpoints, the dispatcher and the delivery of pushes.
///
/// ```swift
/// let server = try Server(configuration: configuration, store: store)
/// try server.start()
/// print(server.url)
/// await server.stop()
/// ```
public final class Server: Sendable {
  private let configuration: ServerConfiguration
  private let store: any RecordStore
  private let log: ServerLog
  private let clock: @Sendable () -> Timestamp
  private let http: HTTPServer
  private let courier: WebCourier
  private let dispatcher: Dispatcher
  private let worker: DeliveryWorker
  private let routes: APNsRoutes
  private let address: Address
  private let maintenance = Mutex<Task<Void, Never>?>(nil)

  /// The server's URL, which is known once the system has chosen the port.
  private final class Address: Sendable {
    let url = Mutex("")
  }

  /// Makes a server over an open store. The store is not closed when the server stops.
  ///
  /// - Throws: ``ConfigurationError`` when a key file cannot be used.
  public init(
    configuration: ServerConfiguration, store: any RecordStore, log: ServerLog = .standardError,
    clock: @escaping @Sendable () -> Timestamp = { .now }
  ) throws {
    self.configuration = configuration
    self.store = store
    self.log = log
    self.clock = clock
    let address = Address()
    self.address = address
    let routes = try APNsRoutes(configuration: configuration, clock: clock)
    self.routes = routes
    let courier = WebCourier(
      store: store, pollTime: configuration.courierPollTime, clock: clock)
    self.courier = courier
    let worker = DeliveryWorker(
      store: store, clock: clock, report: { log.warning($0) },
      route: { routes.route(to: $0) })
    self.worker = worker
    dispatcher = Dispatcher(
      store: store, clock: clock, report: { log.error($0) },
      onDispatched: { result in
        worker.enqueue(result.deliveries)
        courier.wake(Set(result.logged.map(\.notification.subscriber)))
      })
    let router = RequestRouter(
      store: store, containers: configuration.containers, courier: courier, log: log,
      clock: clock, publicURL: { address.url.withLock { $0 } })
    var settings = HTTPServer.Configuration()
    settings.address = configuration.address
    settings.port = configuration.port
    settings.maximumBodySize = ServiceLimits.requestBodySize
    settings.refusalBody = RequestRouter.body(of:)
    settings.onStop = { courier.close() }
    http = HTTPServer(configuration: settings) { await router.respond(to: $0) }
  }

  /// The port that is listened on; known after ``start()``.
  public var port: Int { http.port }

  /// The URL that clients reach the server at.
  public var url: String { address.url.withLock { $0 } }

  public var dispatchMetrics: Dispatcher.Metrics { dispatcher.metrics }
  public var deliveryMetrics: DeliveryWorker.Metrics { worker.metrics }
  public var httpMetrics: HTTPServer.Metrics { http.metrics }

  /// Begins to listen, and dispatches and delivers what an earlier process left.
  ///
  /// - Throws: `HTTPServerError` when the address cannot be listened on; nothing runs then.
  public func start() throws {
    // First, for it alone can fail. What is committed before the dispatcher runs stands in the
    // outbox, where it looks at its start.
    try http.start()
    let host =
      configuration.address.contains(":") ? "[\(configuration.address)]" : configuration.address
    let url = configuration.publicURL ?? "http://\(host):\(http.port)"
    address.url.withLock { $0 = url }
    worker.start()
    dispatcher.start()
    maintenance.withLock { $0 = Task { await self.maintain() } }
  }

  /// Refuses new requests, finishes those under way, ends long polls, then stops dispatching and
  /// delivering. What was not dispatched or delivered is in the store.
  public func stop() async {
    await http.stop(within: .seconds(10))
    maintenance.withLock { $0 }?.cancel()
    await dispatcher.stop()
    await worker.stop()
    await routes.close()
  }

  /// Trims what is beyond its retention, now and once an hour.
  private func maintain() async {
    while !Task.isCancelled {
      do {
        try await store.trim(at: clock())
      } catch {
        log.warning("old notifications could not be trimmed: \(error)")
      }
      try? await Task.sleep(for: .seconds(3600))
    }
  }
}
