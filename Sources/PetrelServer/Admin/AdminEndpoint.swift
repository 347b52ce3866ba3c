import HTTPService

/// One thing that the admin API answers.
struct AdminEndpoint: Sendable {
  enum Method: String, Sendable {
    /// Reads; arguments stand in the query.
    case get = "GET"
    /// Changes something, or reads by what does not fit a query; arguments are the members of a JSON
    /// object in the body.
    case post = "POST"
  }

  var method: Method
  /// What stands behind `/admin/v1/`.
  var path: String
  /// The names of the arguments; others are refused.
  var arguments: [String]
  /// Whether it changes something, so that the log tells who did.
  var changes: Bool
  var answer: @Sendable (AdminRequest) async throws -> HTTPResponse

  static func get(
    _ path: String, _ arguments: [String],
    _ answer: @escaping @Sendable (AdminRequest) async throws -> HTTPResponse
  ) -> AdminEndpoint {
    AdminEndpoint(
      method: .get, path: path, arguments: arguments, changes: false, answer: answer)
  }

  static func post(
    _ path: String, _ arguments: [String], changes: Bool = true,
    _ answer: @escaping @Sendable (AdminRequest) async throws -> HTTPResponse
  ) -> AdminEndpoint {
    AdminEndpoint(
      method: .post, path: path, arguments: arguments, changes: changes, answer: answer)
  }
}

/// Endpoints of one matter.
protocol AdminEndpoints: Sendable {
  var endpoints: [AdminEndpoint] { get }
}
