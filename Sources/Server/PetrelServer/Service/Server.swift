import AdminAPI
import ChangeDispatch
import CloudKitModel
import Configuration
import DatabaseAPI
import Foundation
import HTTPService
import KillPoints
import Logging
import PushChannels
import Settings
import StoreModel
import Synchronization
import WebServices

/// A whole server: the service behind HTTP, with its ways to APNs, browsers and webhooks.
///
/// ```swift
/// let server = try Server(configuration: configuration, store: store)
/// try server.start()
/// print(server.url)
/// await server.stop()
/// ```
public final class Server: Sendable {
  /// With less free on the store's disk, in bytes, it calls itself not ready.
  public static let leastFreeBytes = ServerHealth.leastFreeBytes

  let configuration: ServerConfiguration
  let store: any Store
  private let http: HTTPServer
  let service: CloudService
  let channels: OpenPushChannels
  let pages: OperationPages
  let requestTimes = RequestTimes()
  private let health: ServerHealth
  private let address: Address
  private let log: ServerLog

  /// For those who are there before the server is.
  private struct Reference: Sendable {
    weak var server: Server?
  }

  /// The server's URL, which is known once the system has chosen the port.
  private final class Address: Sendable {
    let url = Mutex("")
    let server = Mutex(Reference())
  }

  /// Makes a server over an open store. The store is not closed when the server stops.
  ///
  /// - Throws: ``ConfigurationError`` when a key file cannot be used.
  public init(
    configuration: ServerConfiguration, store: any Store, log: ServerLog = .standardError(),
    clock: @escaping @Sendable () -> Timestamp = { .now }
  ) throws {
    self.configuration = configuration
    self.store = store
    self.log = log
    let address = Address()
    self.address = address
    let channels = try OpenPushChannels(
      configuration.channelSettings, secrets: store.secrets, clock: clock)
    self.channels = channels
    let service = CloudService(
      configuration: configuration, store: store, log: log, clock: clock, executor: nil,
      publicURL: { address.url.withLock { $0 } },
      webPushKey: channels.channel(WebPushChannel.self)?.key,
      route: { channels.route(to: $0) })
    self.service = service
    var settings = HTTPServer.Configuration()
    settings.address = configuration.address
    settings.port = configuration.port
    settings.maximumBodySize = ServiceLimits.requestBodySize
    // A store in memory has no folder of its own for them.
    settings.spooling = HTTPServer.Spooling(
      directory: store.assets.files.arrivals ?? NSTemporaryDirectory(),
      maximumBodySize: ServiceLimits.assetSize, applies: AssetLinks.isUpload)
    settings.connectionsByAddress = configuration.limits.connectionsPerAddress
    settings.connectionsByNetwork = configuration.limits.connectionsPerNetwork
    settings.handlingTime = .seconds(configuration.limits.requestSeconds)
    settings.isProxy = { configuration.limits.isProxy($0) }
    settings.mayUseReserve = { path in
      path.hasPrefix("/health/") || path == "/metrics" || path.hasPrefix(AdminRouter.prefix)
        || Console.isPath(path)
    }
    settings.refusalBody = { service.body(of: $0) }
    settings.refusalHeaders = { CrossOrigin.headers(ofRefusedRequest: $0) }
    settings.mayBeOverdue = { _, path in
      path.hasPrefix("/database/") || path.hasPrefix("/device/")
    }
    settings.onStop = { service.endPolls() }
    let health = ServerHealth(
      store: store, probe: StoreProbe(store: store),
      dispatchFault: { service.dispatchMetrics.fault })
    self.health = health
    let pages = OperationPages(access: OperatorAccess(configuration), health: health) {
      await address.server.withLock { $0.server }?.metricsPage()
    }
    self.pages = pages
    http = HTTPServer(configuration: settings) { [requestTimes] request in
      if let answer = await pages.answer(to: request) { return answer }
      if store.damage != nil { return .refusalOfDamagedStore(to: request) }
      let began = ContinuousClock.now
      let response = await service.respond(to: request)
      KillPoint.beforeAnswer.reach()
      let operation = service.operations.metricsName(ofPath: request.rawPath)
      requestTimes.record(operation, since: began)
      log.note(response, to: request, operation, since: began)
      return response
    }
    address.server.withLock { $0.server = self }
    store.setDamageHandler { log.error("the store is damaged", ["cause": .string($0)]) }
    service.admin.watch { [weak http] in http?.metrics }
  }

  /// The port that is listened on; known after ``start()``.
  public var port: Int { http.port }

  /// The URL that clients reach the server at.
  public var url: String { address.url.withLock { $0 } }

  public var dispatchMetrics: Dispatcher.Metrics { service.dispatchMetrics }
  public var latestWithheld: [WithheldNotification] { service.latestWithheld }
  public var deliveryMetrics: DeliveryWorker.Metrics { service.deliveryMetrics }
  /// This server among those that share the store; nil when it has it alone.
  public var membershipMetrics: ServerMembership.Metrics? { service.membershipMetrics }
  public var httpMetrics: HTTPServer.Metrics { http.metrics }
  public var requestMetrics: RequestMetrics { service.requestMetrics }

  /// Begins to listen, and dispatches and delivers what an earlier process left.
  ///
  /// - Parameter socket: where commands of this machine reach the server too, if anywhere. A server that cannot listen there
  ///   says so in its log, and goes on.
  /// - Throws: `HTTPServerError` when the address cannot be listened on; nothing runs then.
  public func start(listeningAt socket: SocketFile? = nil) throws {
    // First, for it alone can fail. What is committed before the dispatcher runs stands in the
    // outbox, where it looks at its start.
    try http.start()
    let host =
      configuration.address.contains(":") ? "[\(configuration.address)]" : configuration.address
    let url = configuration.publicURL ?? "http://\(host):\(http.port)"
    address.url.withLock { $0 = url }
    service.start()
    guard let socket else { return }
    do {
      try http.listen(at: socket)
    } catch {
      log.warning(
        "commands that change records or zones have to name the server with --server and an admin key",
        ["cause": .string(error.reason)])
    }
  }

  /// Tells those who ask `/health/ready` that the server wants no new requests, which it still takes.
  public func drain() { health.drain() }

  /// Refuses new requests, finishes those under way, ends long polls, then stops dispatching and
  /// delivering. What was not dispatched or delivered is in the store.
  public func stop() async {
    await http.stop(within: .seconds(10))
    await service.stop()
    await channels.close()
  }
}

extension HTTPResponse {
  /// The answer to all requests once the store was found to be damaged. Clients keep what they wanted to
  /// save, and come again.
  fileprivate static func refusalOfDamagedStore(to request: HTTPRequest) -> HTTPResponse {
    var response = HTTPResponse(
      ServiceError(
        .tryAgainLater, "the server's store is damaged, and nothing is served until it is restored",
        retryAfter: 60))
    response.headers += CrossOrigin.headers(ofRefusedRequest: request.headers)
    return response
  }
}

extension ServerLog {
  // Not where the request waits: what waits keeps room for all that its functions may make.
  @inline(never)
  fileprivate func note(
    _ response: HTTPResponse, to request: HTTPRequest, _ operation: String,
    since began: ContinuousClock.Instant
  ) {
    // Polls of the web courier change nothing and have none.
    let uuid = response.headers.first { $0.0 == RequestRouter.uuidHeader }?.1 ?? "-"
    debug(
      "request answered",
      [
        "request": .string(uuid), "operation": .string(operation),
        "status": .int(Int64(response.status)),
        "seconds": .double((ContinuousClock.now - began) / .seconds(1)),
        "address": .string(request.remoteAddress),
      ])
  }
}
