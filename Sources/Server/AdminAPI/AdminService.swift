import CloudKitModel
import Configuration
import DatabaseAPI
import Explanation
import Foundation
import HTTPService
import Logging
import StoreModel
import Synchronization
import WebServices

/// What those who run the server reach over HTTP: the admin API and the console.
package final class AdminService: Sendable {
  private let admission: Mutex<AdminAdmission>
  private let authenticator: AdminAuthenticator
  private let router: AdminRouter
  private let console: Console
  private let journal: FailureJournal
  private let gauges: AdminGauges
  private let pushes: LivePushes

  package init(
    store: any Store, configuration: ServerConfiguration, containers: ContainerSettings,
    accounts: AdminAccounts,
    gauges: AdminGauges, pushes: LivePushes, index: Explainer.Index?, journal: FailureJournal,
    log: ServerLog,
    clock: @escaping @Sendable () -> Timestamp, publicURL: @escaping @Sendable () -> String
  ) {
    let admission = AdminAdmission(configuration)
    self.admission = Mutex(admission)
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

  /// The endpoints that do not ask how somebody signed in.
  ///
  /// - Parameters:
  ///   - gauges: nil where no server runs.
  ///   - index: the index by which changes are dispatched; nil where none are.
  static func endpoints(
    store: any Store, configuration: ServerConfiguration, containers: ContainerSettings,
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
    return [
      AdminPlacesEndpoints(
        administration: store.administration, zones: store.zones, databases: databases,
        configured: { containers.names }),
      AdminRecordsEndpoints(records: store.records, databases: databases),
      AdminChangesEndpoints(store: store.changeFeeds, databases: databases, links: links),
      AdminSchemaEndpoints(store: store.schemas),
      AdminSubscriptionsEndpoints(
        accounts: store.accounts, administration: store.administration,
        subscriptions: store.subscriptions, databases: databases),
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
      AdminPartitionEndpoints(servers: store.servers, databases: databases),
      AdminExplainEndpoints(
        store: ExplanationStore(store), accounts: store.accounts, adminAccess: store.adminAccess,
        credentials: store.credentials, databases: databases, index: index, isBounded: gauges != nil
      ),
      AdminPushesEndpoints(
        accounts: store.accounts, administration: store.administration, databases: databases,
        gauges: gauges, pushes: pushes, clock: clock),
    ]
  }

  /// The HTTP server in front, whose numbers belong to the server's.
  package func watch(_ metrics: @escaping @Sendable () -> HTTPServer.Metrics?) {
    gauges.watch(metrics)
  }

  /// Lets in later requests by another configuration. Sessions go on, and so do event streams.
  ///
  /// - Parameter configuration: with the address and the URL at which the server can be reached: they
  ///   tell whether the API is there by itself.
  package func reload(_ configuration: ServerConfiguration) {
    let next = AdminAdmission(configuration)
    admission.withLock { $0 = next }
    authenticator.count(by: next.addressHeader)
  }

  /// Ends the event streams, now and from now on.
  package func close() { pushes.close() }

  package static func isPath(_ path: String) -> Bool {
    path.hasPrefix("/admin/") || path == "/admin" || Console.isPath(path)
  }

  /// The answer to a request whose path ``isPath(_:)``.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    var known: AdminIdentity?
    do {
      try admission.withLock { $0 }.check(request)
      if Console.isPath(request.path) { return try await console.answer(to: request) }
      let identity = try await authenticator.identity(of: request)
      known = identity
      return protected(try await router.answer(to: request, by: identity))
    } catch {
      let failure = ServiceError(any: error)
      let response = (error as? WrongMethod)?.response(failure) ?? HTTPResponse(failure)
      journal.note(
        failure, status: response.status, of: request, operation: "admin", by: known, cause: error)
      return protected(response)
    }
  }

  private func protected(_ response: HTTPResponse) -> HTTPResponse {
    var response = response
    response.headers += Self.protection
    return response
  }

  /// Header fields of every answer: nothing of it is kept, framed or taken for a page.
  private static let protection = [
    ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
  ]
}
