import CloudKitModel
import HTTPService
import WebServices

/// Finds the endpoint for a request of the admin API.
struct AdminRouter: Sendable {
  static let prefix = "/admin/v1/"

  private let endpoints: [String: [AdminEndpoint]]
  private let authenticator: AdminAuthenticator
  private let log: ServerLog
  private let clock: @Sendable () -> Timestamp

  init(
    _ matters: [any AdminEndpoints], authenticator: AdminAuthenticator, log: ServerLog,
    clock: @escaping @Sendable () -> Timestamp
  ) {
    endpoints = Dictionary(grouping: matters.flatMap(\.endpoints), by: \.path)
    self.authenticator = authenticator
    self.log = log
    self.clock = clock
  }

  /// - Throws: what was wrong with the request.
  func answer(to request: HTTPRequest) async throws -> HTTPResponse {
    let identity = try await authenticator.identity(of: request)
    let path = String(request.path.dropFirst(Self.prefix.count))
    guard let choices = endpoints[path] else {
      throw ServiceError(
        .notFound,
        "no such path: '\(request.path.prefix(200))'; below \(Self.prefix) are "
          + endpoints.keys.sorted().joined(separator: ", "))
    }
    let method = request.method == "HEAD" ? "GET" : request.method
    guard let endpoint = choices.first(where: { $0.method.rawValue == method }) else {
      throw WrongMethod(
        allowed: choices.map(\.method.rawValue),
        reason: "\(path) takes \(choices.map(\.method.rawValue).joined(separator: " or ")), "
          + "not \(request.method)")
    }
    let arguments = try AdminArguments(request, known: endpoint.arguments)
    let response = try await endpoint.answer(
      AdminRequest(identity: identity, arguments: arguments, now: clock(), http: request))
    if endpoint.changes {
      log.info("admin: \(path) by the key \(identity.key.identifier)")
    }
    return response
  }
}
