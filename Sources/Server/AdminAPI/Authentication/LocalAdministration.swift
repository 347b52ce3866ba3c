import CloudKitModel
import Configuration
import DatabaseAPI
import HTTPService
import JSONCoding
import StoreModel
import WebServices

/// The admin API in the process that has the store open, without a server, a socket or a key.
///
/// What runs in a server only is missing: sessions, the numbers of `overview` and the stream of
/// `events`. Changes are kept for the next server to dispatch.
///
/// ```swift
/// let administration = LocalAdministration(store: store, configuration: configuration)
/// let response = await administration.respond(
///   to: HTTPRequest(method: "GET", target: "/admin/v1/users"))
/// ```
public struct LocalAdministration: Sendable {
  private let router: AdminRouter
  private let transfers: AssetTransfers

  public init(
    store: any Store, configuration: ServerConfiguration,
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

  /// The answer to a request below ``path``, or to an asset's URL; never fails, for what goes wrong is
  /// in the answer.
  public func respond(to request: HTTPRequest) async -> HTTPResponse {
    do {
      if request.path.hasPrefix(AssetLinks.prefix) {
        return try await transfers.respond(to: request)
      }
      return try await router.answer(to: request, by: .local)
    } catch {
      var failure = ServiceError(any: error)
      // There is no server's log that would say why.
      if failure.code == .internalError { failure.reason = "\(error)" }
      return HTTPResponse(failure)
    }
  }

  /// What the paths of the admin API begin with.
  public static let path = AdminRouter.prefix
}
