import CloudKitModel
import Configuration
import DatabaseAPI
import HTTPService
import JSONCoding
import Storage
import StoreModel
import WebServices

/// The admin API inside a process that has the store open. The API then needs no server, no socket
/// and no key.
///
/// It lacks the endpoints that need a running server: `session`, `session/sign-out`, `overview` and
/// `events`. Changes of records stay in the outbox, the store's queue of committed changes, until
/// the next server dispatches them.
///
/// ```swift
/// let administration = LocalAdministration(store: store, configuration: configuration)
/// let response = await administration.respond(
///   to: HTTPRequest(method: "GET", target: "/admin/v1/users"))
/// ```
public struct LocalAdministration: Sendable {
  /// Each request has ``AdminIdentity/local`` as its caller.
  private let router: AdminRouter
  /// The upload and download of assets at the URLs that the API's answers contain.
  private let transfers: AssetTransfers

  /// Opens the admin API on a store.
  ///
  /// - Parameter configuration: the server's settings. Its public URL is the base of asset URLs.
  public init(
    store: Store, configuration: ServerConfiguration,
    clock: @escaping @Sendable () -> Timestamp = { .now }
  ) {
    transfers = AssetTransfers(
      assets: store.assets, databases: store.databases,
      links: AssetLinks(
        store: store.secrets, clock: clock, publicURL: { configuration.publicURL ?? "" }),
      clock: clock, limits: ServerConfiguration.Limits())
    router = AdminRouter(
      AdminService.endpoints(
        store: store, configuration: configuration,
        containers: ContainerSettings(configuration.containers),
        accounts: AdminAccounts(passwords: PasswordHasher(), webAuthTokens: nil), gauges: nil,
        pushes: LivePushes(), index: nil, clock: clock, publicURL: { configuration.publicURL ?? "" }
      ), log: .silent,
      clock: clock)
  }

  /// Returns the answer to a request for a path below ``path``, or for the URL of an asset. All
  /// errors become answers.
  ///
  /// The answer to an internal error contains the error's text. A server leaves that text out.
  public func respond(to request: HTTPRequest) async -> HTTPResponse {
    do {
      if request.path.hasPrefix(AssetLinks.prefix) {
        return try await transfers.respond(to: request)
      }
      return try await router.answer(to: request, RequestInfo(operation: "admin"), by: .local)
    } catch {
      var failure = ServiceError(any: error)
      // This process has no server log that could contain the reason.
      if failure.code == .internalError { failure.reason = "\(error)" }
      return HTTPResponse(failure)
    }
  }

  /// The prefix of the API's paths, `/admin/v1/`.
  public static let path = AdminRouter.prefix
}
