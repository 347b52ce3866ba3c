import CloudKitModel
import Concurrency
import Configuration
import DatabaseAPI
import Explanation
import Foundation
import HTTPService
import Logging
import PushChannels
import Storage
import StoreModel
import WebServices

/// The HTTP interface for the operators of a server: the admin API below `/admin/v1/` and the
/// console below `/console`.
///
/// Each request passes three stages:
///
/// 1. ``AdminAdmission`` checks whether the configuration admits the request's address.
/// 2. ``AdminAuthenticator`` finds the admin key or the browser's session.
/// 3. ``AdminRouter`` calls the endpoint, or ``Console`` sends a page or a file.
///
/// The answer to a failed request has the format of the web services protocol's errors: a code, a
/// reason, and the identifier under which the log names the request:
///
///     { "uuid": "…", "serverErrorCode": "NOT_FOUND", "reason": "there is no user named 'bob'" }
package final class AdminService: Sendable {
  private let admission: Reloadable<AdminAdmission>
  private let authenticator: AdminAuthenticator
  private let router: AdminRouter
  private let console: Console
  private let journal: FailureJournal
  private let gauges: AdminGauges
  private let pushes: LivePushes

  /// Assembles the service. The containers change when the configuration is reloaded. `index` is
  /// nil if this process dispatches nothing, and `journal` counts and logs failed requests.
  package init(
    store: Store, configuration: ServerConfiguration, containers: ContainerSettings,
    accounts: AdminAccounts,
    gauges: AdminGauges, pushes: LivePushes, index: Explainer.Index?, journal: FailureJournal,
    log: ServerLog,
    clock: @escaping @Sendable () -> Timestamp, publicURL: @escaping @Sendable () -> String
  ) {
    let admission = AdminAdmission(configuration)
    self.admission = Reloadable(admission)
    self.journal = journal
    self.gauges = gauges
    self.pushes = pushes
    let authenticator = AdminAuthenticator(
      store: store.adminAccess, sharing: store.sharedLimits, addressHeader: admission.addressHeader,
      clock: clock)
    self.authenticator = authenticator
    console = Console(authenticator: authenticator, publicURL: publicURL)
    router = AdminRouter(
      [AdminSessionEndpoints(authenticator: authenticator, publicURL: publicURL)]
        + Self.endpoints(
          store: store, configuration: configuration, containers: containers, accounts: accounts,
          gauges: gauges,
          pushes: pushes, index: index, clock: clock, publicURL: publicURL), log: log, clock: clock)
  }

  /// Returns all groups of endpoints except ``AdminSessionEndpoints``, which needs a signed-in
  /// caller. ``LocalAdministration`` uses these groups too.
  ///
  /// - Parameter gauges: nil in a process that runs no server. The endpoints `overview` and
  ///   `events` are then missing, and explanations may examine more subscriptions.
  static func endpoints(
    store: Store, configuration: ServerConfiguration, containers: ContainerSettings,
    accounts: AdminAccounts,
    gauges: AdminGauges?, pushes: LivePushes, index: Explainer.Index?,
    clock: @escaping @Sendable () -> Timestamp,
    publicURL: @escaping @Sendable () -> String
  ) -> [any AdminEndpoints] {
    let links = AssetLinks(store: store.secrets, clock: clock, publicURL: publicURL)
    let databases = AdminDatabases(
      accounts: store.accounts, store: store.databases,
      operations: OperationTable(
        store: store, configuration: configuration, links: links, publicURL: publicURL,
        webPushKey: nil))
    let names = QueryNames(schemas: store.schemas)
    return [
      AdminPlacesEndpoints(
        administration: store.administration, zones: store.zones, databases: databases,
        configured: { containers.names }),
      AdminRecordsEndpoints(records: store.records, names: names, databases: databases),
      AdminChangesEndpoints(
        store: store.changeFeeds, names: names, databases: databases, links: links),
      AdminSchemaEndpoints(store: store.schemas),
      AdminSubscriptionsEndpoints(
        accounts: store.accounts, administration: store.administration,
        subscriptions: store.subscriptions, databases: databases),
      AdminSharesEndpoints(
        store: store.shareAdministration, accounts: store.accounts, databases: databases,
        links: links),
      AdminUsersEndpoints(
        accounts: store.accounts, administration: store.administration, devices: store.devices,
        databases: databases),
      AdminAccountsEndpoints(store: store.accounts, accounts: accounts),
      AdminUserDeletionEndpoints(
        users: store.accounts, store: store.userDeletion, accounts: accounts),
      AdminUserHoldingsEndpoints(
        accounts: store.accounts, databases: store.databases,
        notificationLog: store.notificationLog, store: store.userDeletion, links: links),
      AdminRolesEndpoints(
        accounts: store.accounts, credentials: store.credentials, schemas: store.schemas),
      AdminKeysEndpoints(adminAccess: store.adminAccess, credentials: store.credentials),
      AdminServersEndpoints(servers: store.servers),
      AdminBackgroundEndpoints(gauges: gauges),
      AdminPartitionEndpoints(servers: store.servers, databases: databases),
      AdminExplainEndpoints(
        store: store, accounts: store.accounts, adminAccess: store.adminAccess,
        credentials: store.credentials, databases: databases, index: index,
        lackOfRoute: { device in
          PushChannelRegistry.channel(of: device.kind)?.lackOfRoute(
            to: device,
            with: PushChannelSettings(
              server: configuration.channels,
              containers: [device.container: containers[device.container].channels]))
        }, isBounded: gauges != nil),
      AdminPushesEndpoints(
        accounts: store.accounts, administration: store.administration, databases: databases,
        gauges: gauges, pushes: pushes, clock: clock),
    ]
  }

  /// Adds the metrics of the HTTP server to the answers of `overview`, and all jobs of the server to those
  /// of `background`.
  package func watch(
    _ jobs: [BackgroundJob], _ metrics: @escaping @Sendable () -> HTTPServer.Metrics?
  ) {
    gauges.watch(jobs, metrics)
  }

  /// Applies the rules of admission in a reloaded configuration to later requests. Browsers stay
  /// signed in, and open event streams continue.
  ///
  /// - Parameter configuration: the new configuration. It must contain the resolved listening
  ///   address and public URL, because they decide whether the API is on by default.
  package func reload(_ configuration: ServerConfiguration) {
    let next = AdminAdmission(configuration)
    admission.replace(by: next)
    authenticator.count(by: next.addressHeader)
  }

  /// Ends all event streams and refuses new ones. The server calls this when it stops.
  package func close() { pushes.close() }

  /// Decides about a request for the API by its head. Nobody without access gets the server to receive a
  /// body. All errors become answers.
  ///
  /// The journal counts and logs each failed request with its caller, if the caller is known.
  package func call(_ head: HTTPRequest, _ info: RequestInfo) async -> HTTPDecision {
    await decide(head, info) {
      let identity = try await authenticator.identity(of: head)
      return .receive { [self] request in
        await answer(request, info, by: identity) {
          protected(try await router.answer(to: request, info, by: identity))
        }
      }
    }
  }

  /// Decides about a request for the console, whose pages and files anybody with access to the API may
  /// read.
  package func page(_ head: HTTPRequest, _ info: RequestInfo) async -> HTTPDecision {
    await decide(head, info, isConsole: true) {
      .receive { [self] request in
        await answer(request, info, by: nil) { try await console.answer(to: request) }
      }
    }
  }

  private func decide(
    _ head: HTTPRequest, _ info: RequestInfo, isConsole: Bool = false,
    _ handler: () async throws -> HTTPDecision
  ) async -> HTTPDecision {
    do {
      try admission.value.check(head, isConsole: isConsole)
      return try await handler()
    } catch {
      return .answer(refusal(of: head, info, because: error, by: nil))
    }
  }

  private func answer(
    _ request: HTTPRequest, _ info: RequestInfo, by caller: AdminIdentity?,
    _ body: () async throws -> HTTPResponse
  ) async -> HTTPResponse {
    do {
      return try await body()
    } catch {
      return refusal(of: request, info, because: error, by: caller)
    }
  }

  private func refusal(
    of request: HTTPRequest, _ info: RequestInfo, because error: any Error,
    by caller: AdminIdentity?
  ) -> HTTPResponse {
    protected(
      journal.refusal(
        ServiceError(any: error), of: request, info, by: caller, because: error))
  }

  private func protected(_ response: HTTPResponse) -> HTTPResponse {
    var response = response
    response.headers += Self.protection
    return response
  }

  /// The header fields of every answer of the API. They forbid caches to store the answer. They
  /// forbid browsers to guess another media type, to show the answer in a frame, and to load
  /// anything for it.
  private static let protection = [
    ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
  ]
}
