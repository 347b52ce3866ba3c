import CloudKitModel
import Foundation
import HTTPService
import Storage
import WebServices

/// Finds the endpoint for a request and puts whatever goes wrong into the protocol's form.
final class RequestRouter: Sendable {
  private typealias Endpoint = @Sendable (RequestContext) async throws -> Data

  private let containers: [String: ServerConfiguration.Container]
  private let authenticator: Authenticator
  private let courier: WebCourier
  private let assetTransfers: AssetTransfers
  private let endpoints: [String: Endpoint]
  private let clock: @Sendable () -> Timestamp
  private let signIn: SignIn
  private let log: ServerLog

  init(
    store: any RecordStore, containers: [String: ServerConfiguration.Container],
    courier: WebCourier, log: ServerLog, clock: @escaping @Sendable () -> Timestamp,
    publicURL: @escaping @Sendable () -> String, signIn: SignIn
  ) {
    self.containers = containers
    self.courier = courier
    self.clock = clock
    self.log = log
    self.signIn = signIn
    authenticator = Authenticator(store: store, clock: clock)
    let databases = DatabaseDirectory(store: store)
    let links = AssetLinks(store: store, clock: clock, publicURL: publicURL)
    assetTransfers = AssetTransfers(store: store, links: links, clock: clock)
    let records = RecordsEndpoint(store: store, databases: databases, links: links)
    let assets = AssetsEndpoint(store: store, databases: databases, links: links)
    let zones = ZonesEndpoint(store: store, databases: databases)
    let changes = ChangesEndpoint(store: store, databases: databases, links: links)
    let subscriptions = SubscriptionsEndpoint(store: store, databases: databases)
    let tokens = TokensEndpoint(store: store, publicURL: publicURL)
    let notifications = NotificationsEndpoint(store: store)
    let users = UsersEndpoint(store: store)
    let shares = SharesEndpoint()
    endpoints = [
      "records/modify": records.modify,
      "records/lookup": records.lookup,
      "records/query": records.query,
      "records/changes": changes.records,
      "changes/database": changes.database,
      "changes/zone": changes.zone,
      "zones/changes": changes.zones,
      "assets/upload": assets.upload,
      "assets/rereference": assets.rereference,
      "zones/list": zones.list,
      "zones/lookup": zones.lookup,
      "zones/modify": zones.modify,
      "subscriptions/list": subscriptions.list,
      "subscriptions/lookup": subscriptions.lookup,
      "subscriptions/modify": subscriptions.modify,
      "tokens/create": tokens.create,
      "tokens/register": tokens.register,
      "tokens/badge": tokens.badge,
      "notifications/changes": notifications.changes,
      "notifications/markRead": notifications.markRead,
      "records/resolve": shares.refuse,
      "records/accept": shares.refuse,
      "users/caller": users.caller,
      "users/current": users.current,
      "users/discover": users.discover,
      "users/lookup/email": users.lookUpEmail,
      "users/lookup/id": users.lookUpID,
      "users/lookup/contacts": users.lookUpContacts,
      "users/permissions": users.permissions,
    ]
  }

  /// Operations that read and take no arguments, or do so without a body.
  private static let readOnly: Set<String> = [
    "zones/list", "subscriptions/list", "users/caller", "users/current", "users/discover",
    "users/permissions",
  ]

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    if SignIn.isPath(request.path) { return await signIn.respond(to: request) }
    do {
      if request.path == "/aps" { return try await courier.poll(request) }
      if request.path.hasPrefix(AssetLinks.prefix) {
        return try await assetTransfers.respond(to: request)
      }
      return try await serve(request)
    } catch {
      let serviceError = ServiceError(any: error)
      if serviceError.code == .internalError {
        log.error("\(serviceError.uuid) \(request.method) \(request.path): \(error)")
      }
      return HTTPResponse(serviceError)
    }
  }

  private func serve(_ request: HTTPRequest) async throws -> HTTPResponse {
    let path = try ServicePath(parsing: request.path)
    guard let endpoint = endpoints[path.operation] else {
      throw ServiceError(
        .notFound,
        "no such operation: '\(path.operation)'; known are "
          + endpoints.keys.sorted().joined(separator: ", "))
    }
    // Some clients send reads as POST.
    guard request.method == "POST" || (request.method == "GET" && Self.isReadOnly(path)) else {
      throw ServiceError(
        .badRequest, "\(path.operation) takes POST, not \(request.method)")
    }
    guard containers.isEmpty || containers[path.container] != nil else {
      throw ServiceError(.badContainer, "container '\(path.container)' is not served here")
    }
    let credentials = try await authenticator.credentials(of: request)
    let container = containers[path.container] ?? ServerConfiguration.Container()
    let context = RequestContext(
      path: path, credentials: credentials,
      deviceID: request.query("clientId"),
      excludesOriginDevice: container.excludesOriginDevice,
      refusesEqualSubscriptions: container.refusesEqualSubscriptions,
      body: request.body, now: clock())
    do {
      return HTTPResponse(
        headers: HTTPResponse.jsonHeaders, body: .data(try await endpoint(context)))
    } catch var error as ServiceError
      where error.code == .authenticationRequired && error.redirectURL == nil
    {
      error.redirectURL = try await signIn.url(for: request, to: path, with: credentials)
      throw error
    }
  }

  /// The body for a request that the HTTP server refuses by itself, in the protocol's form.
  static func body(of refusal: HTTPRefusal) -> Data {
    let code: ServerErrorCode =
      switch refusal.status {
      case 429: .throttled
      case 503: .tryAgainLater
      default: .badRequest
      }
    return ServiceError(
      code, refusal.message, retryAfter: refusal.retryAfter.map(Double.init),
      limit: refusal.limit
    ).body
  }

  private static func isReadOnly(_ path: ServicePath) -> Bool { readOnly.contains(path.operation) }
}
