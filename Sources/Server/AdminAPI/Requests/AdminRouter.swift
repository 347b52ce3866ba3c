import CloudKitModel
import DatabaseAPI
import HTTPService
import Logging
import StoreModel
import WebServices

/// Finds the endpoint for a request of the admin API.
package struct AdminRouter: Sendable {
  package static let prefix = "/admin/v1/"

  private let endpoints: [String: [AdminEndpoint]]
  private let log: ServerLog
  private let clock: @Sendable () -> Timestamp

  init(
    _ endpoints: [any AdminEndpoints], log: ServerLog, clock: @escaping @Sendable () -> Timestamp
  ) {
    let declared = endpoints.flatMap(\.endpoints)
    self.endpoints = Dictionary(
      grouping: declared + AdminDescriptionEndpoints(others: declared).endpoints, by: \.path)
    self.log = log
    self.clock = clock
  }

  /// - Parameter identity: who makes the request.
  /// - Throws: what was wrong with the request.
  func answer(
    to request: HTTPRequest, by identity: AdminIdentity
  ) async throws -> HTTPResponse {
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
    let admin = AdminRequest(
      identity: identity, arguments: arguments, now: clock(), http: request)
    var response: HTTPResponse
    do {
      response = try await endpoint.answer(admin)
    } catch let error as StoreError where error.code == .userDeleted {
      // To the user it is a failed sign-in, which the operator's is not.
      throw ServiceError(.notFound, error.reason)
    }
    if endpoint.changes {
      let name = identity.key.map { "the key \($0.identifier)" } ?? "the data directory's owner"
      log.info("admin: \(path) by \(name)", ["request": .string("\(admin.uuid)")])
    }
    response.headers.append((RequestRouter.uuidHeader, "\(admin.uuid)"))
    return response
  }
}
