import CloudKitModel
import DatabaseAPI
import HTTPService
import Logging
import StoreModel
import WebServices

/// The router of the admin API. It finds the endpoint of a request, checks the arguments, calls the
/// endpoint and logs changes.
package struct AdminRouter: Sendable {
  package static let prefix = "/admin/v1/"

  private typealias Entry = (
    endpoint: AdminEndpoint, answer: @Sendable (AdminRequest) async throws -> HTTPResponse
  )

  /// The endpoints by their paths below ``prefix``. A path has at most one endpoint for each
  /// method.
  private let routes: [String: [Entry]]
  private let log: ServerLog
  private let clock: @Sendable () -> Timestamp

  /// Builds the table of routes, and adds the endpoint of the API's description.
  init(
    _ endpoints: [any AdminEndpoints], log: ServerLog, clock: @escaping @Sendable () -> Timestamp
  ) {
    let description = AdminDescriptionEndpoints(
      others: endpoints.flatMap { type(of: $0).declarations })
    routes = Dictionary(
      grouping: (endpoints + [description]).flatMap { Self.routes(of: $0) }, by: \.endpoint.path)
    self.log = log
    self.clock = clock
  }

  private static func routes<Group: AdminEndpoints>(of group: Group) -> [Entry] {
    Group.endpoints.map { ($0.endpoint, $0.answer(group)) }
  }

  /// Returns the answer to a request with a path below ``prefix``.
  ///
  /// - Throws: `NOT_FOUND` for an unknown path or a user who is being deleted. `WrongMethod` for a
  ///   method that the path does not have. `BAD_REQUEST` for invalid arguments. An endpoint may
  ///   throw other errors.
  func answer(
    to request: HTTPRequest, _ info: RequestInfo, by identity: AdminIdentity
  ) async throws -> HTTPResponse {
    let path = String(request.path.dropFirst(Self.prefix.count))
    guard let choices = routes[path] else {
      throw ServiceError(
        .notFound,
        "no such path: '\(request.path.prefix(200))'; below \(Self.prefix) are "
          + routes.keys.sorted().joined(separator: ", "))
    }
    let method = request.method == "HEAD" ? "GET" : request.method
    guard let route = choices.first(where: { $0.endpoint.method.rawValue == method }) else {
      let allowed = choices.map(\.endpoint.method.rawValue)
      throw WrongMethod(
        allowed: allowed,
        reason: "\(path) takes \(allowed.joined(separator: " or ")), not \(request.method)")
    }
    let arguments = try AdminArguments(request, known: route.endpoint.arguments)
    let admin = AdminRequest(
      uuid: info.uuid, identity: identity, arguments: arguments, now: clock(), http: request)
    let response: HTTPResponse
    do {
      response = try await route.answer(admin)
    } catch let error as StoreError where error.code == .userDeleted {
      // The web services protocol reports this error as a failed sign-in. Here the caller is an
      // operator, whose sign-in did not fail.
      throw ServiceError(.notFound, error.reason)
    }
    if route.endpoint.changes {
      let name = identity.key.map { "the key \($0.identifier)" } ?? "the data directory's owner"
      log.info("admin: \(path) by \(name)", ["request": .string("\(admin.uuid)")])
    }
    return response
  }
}
