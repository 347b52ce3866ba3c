import AdminAPI
import ChangeDispatch
import CloudKitModel
import Concurrency
import Configuration
import DatabaseAPI
import Foundation
import HTTPService
import KillPoints
import Logging
import PushChannels
import Settings
import Storage
import StoreModel
import Synchronization
import WebServices

/// A complete server: a ``CloudService`` behind HTTP, with the push channels for APNs, browsers and
/// webhooks.
///
/// ```swift
/// let server = try Server(configuration: configuration, store: store)
/// try server.start()
/// print(server.url)
/// await server.stop()
/// ```
public final class Server: Sendable {
  /// The free space on the store's disk, in bytes, below which the server is not ready.
  public static let leastFreeBytes = ServerHealth.leastFreeBytes

  /// The configuration at the start. A reload does not change it.
  let configuration: ServerConfiguration
  let store: Store
  private let http: HTTPServer
  let service: CloudService
  let channels: OpenPushChannels
  let pages: OperationPages
  let requestTimes = RequestTimes()
  private let health: ServerHealth
  /// The URL and a reference to this server, for closures that are created before the two are
  /// known.
  private let address: Address
  let log: ServerLog

  /// A weak reference to the server. It is nil before the server is complete.
  private struct Reference: Sendable {
    weak var server: Server?
  }

  /// The server's URL and a weak reference to the server. The URL is empty until the server
  /// listens, because the system may choose the port.
  private final class Address: Sendable {
    let url = Mutex("")
    let server = Mutex(Reference())
  }

  /// Creates a server on an open store. The caller closes the store after the server has stopped.
  ///
  /// - Throws: `ConfigurationError` if a key file is unusable.
  public init(
    configuration: ServerConfiguration, store: Store, log: ServerLog = .standardError(),
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
    // A store in memory has no directory for uploads.
    settings.spooling = HTTPServer.Spooling(
      directory: store.assets.files.arrivals ?? NSTemporaryDirectory(),
      maximumBodySize: ServiceLimits.assetSize)
    settings.connectionsByAddress = configuration.limits.connectionsPerAddress
    settings.connectionsByNetwork = configuration.limits.connectionsPerNetwork
    settings.handlingTime = .seconds(configuration.limits.requestSeconds)
    settings.isProxy = { configuration.limits.isProxy($0) }
    settings.forwardedAddress = {
      ClientAddress.forwarded(in: $0, header: configuration.limits.clientAddressHeader)?.bytes
    }
    settings.refusalBody = { service.body(of: $0) }
    settings.refusalHeaders = { CrossOrigin.headers(ofRefusedRequest: $0) }
    settings.onStop = { service.endPolls() }
    let health = ServerHealth(
      store: store, probe: .writing(to: store), reach: .reaching(store),
      dispatchFault: { service.dispatchMetrics.fault })
    self.health = health
    let pages = OperationPages(access: OperatorAccess(configuration), health: health) {
      await address.server.withLock { $0.server }?.metricsPage()
    }
    self.pages = pages
    let observer: Routes.Observer = { [requestTimes] response, request, info, began in
      KillPoint.beforeAnswer.reach()
      requestTimes.record(info.operation, since: began)
      log.debug(
        "request answered",
        [
          "request": .string("\(info.uuid)"), "operation": .string(info.operation),
          "status": .int(Int64(response.status)),
          "seconds": .double((ContinuousClock.now - began) / .seconds(1)),
          "address": .string(request.remoteAddress),
        ])
    }
    let routes = service.routes.after(
      pages.routes, unless: { store.damage == nil ? nil : .refusalOfDamagedStore(to: $0) },
      observer: observer)
    settings.rules = { routes.route($0, $1).rules }
    http = HTTPServer(configuration: settings) { await routes.examine($0) }
    address.server.withLock { $0.server = self }
    store.setDamageHandler { log.error("the store is damaged", ["cause": .string($0)]) }
    service.admin.watch(jobs) { [weak http] in http?.metrics }
  }

  /// The jobs that the server does by itself. They start and stop with the server; the health checks run
  /// when they are asked for.
  var jobs: [BackgroundJob] { service.work.jobs + http.jobs + health.jobs }

  /// The port on which the server listens; valid after ``start(listeningAt:)``.
  public var port: Int { http.port }

  /// The URL at which clients reach the server; empty before ``start(listeningAt:)``.
  public var url: String { address.url.withLock { $0 } }

  /// The metrics of the dispatcher since the start.
  public var dispatchMetrics: Dispatcher.Metrics { service.dispatchMetrics }
  /// The latest notifications that were withheld because the subscriber may not read the record.
  public var latestWithheld: [WithheldNotification] { service.latestWithheld }
  /// The metrics of the delivery worker since the start.
  public var deliveryMetrics: DeliveryWorker.Metrics { service.deliveryMetrics }
  /// The metrics of the cluster membership; nil if this server has the store alone.
  public var membershipMetrics: ServerMembership.Metrics? { service.membershipMetrics }
  /// The metrics of the HTTP server since the start.
  public var httpMetrics: HTTPServer.Metrics { http.metrics }
  /// The counts of failed requests since the start.
  public var requestMetrics: RequestMetrics { service.requestMetrics }

  /// Starts to listen for requests, to dispatch changes and to deliver pushes. The server also
  /// processes the changes and deliveries that an earlier process left in the store.
  ///
  /// - Parameter socket: the socket file for commands on this machine; nil for none. If the server
  ///   cannot listen there, it logs a warning and continues.
  /// - Throws: `HTTPServerError` if the server cannot listen on the address. The server has then
  ///   started nothing.
  public func start(listeningAt socket: SocketFile? = nil) throws {
    // The server listens first, because only this step can make the start fail. A change that is
    // committed before the dispatcher starts is in the outbox, the store's queue of changes. The
    // dispatcher reads the outbox when it starts.
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
        "commands that change records or zones must name the server with --server and an admin key",
        ["cause": .string(error.reason)])
    }
  }

  /// Makes `/health/ready` report that the server is about to stop. The server still accepts
  /// requests.
  public func drain() { health.drain() }

  /// Stops the server: refuses new requests, ends polls and event streams, and waits up to 10
  /// seconds for other requests. Then the method stops the dispatcher, the delivery worker and the
  /// push channels. Changes and deliveries that are not finished remain in the store.
  public func stop() async {
    await http.stop(within: .seconds(10))
    await service.stop()
    await channels.close()
  }
}

extension HTTPResponse {
  /// Returns the answer to all requests while the store is damaged. The error is temporary for
  /// clients, so they keep their unsaved changes and try again after 60 seconds.
  fileprivate static func refusalOfDamagedStore(to request: HTTPRequest) -> HTTPResponse {
    var response = HTTPResponse(
      ServiceError(
        .tryAgainLater, "the server's store is damaged, and nothing is served until it is restored",
        retryAfter: 60))
    response.headers += CrossOrigin.headers(ofRefusedRequest: request.headers)
    return response
  }
}
