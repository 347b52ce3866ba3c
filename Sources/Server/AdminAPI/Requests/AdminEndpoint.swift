import HTTPService
import JSONCoding

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
  /// Others are refused.
  var arguments: [AdminArgument]
  /// Whether it changes something, so that the log tells who did.
  var changes: Bool
  var answer: @Sendable (AdminRequest) async throws -> HTTPResponse
  /// One line of what it does, for the description of the API.
  var summary = ""
  /// The shape of its answer; nil for a stream of events.
  var answerSchema: JSONSchema? = .anything

  static func get(
    _ path: String, _ arguments: [AdminArgument],
    _ answer: @escaping @Sendable (AdminRequest) async throws -> HTTPResponse
  ) -> AdminEndpoint {
    AdminEndpoint(
      method: .get, path: path, arguments: arguments, changes: false, answer: answer)
  }

  static func post(
    _ path: String, _ arguments: [AdminArgument], changes: Bool = true,
    _ answer: @escaping @Sendable (AdminRequest) async throws -> HTTPResponse
  ) -> AdminEndpoint {
    AdminEndpoint(
      method: .post, path: path, arguments: arguments, changes: changes, answer: answer)
  }
}

extension AdminEndpoint {
  /// The endpoint with what the description of the API says of it.
  ///
  /// - Parameter schema: the shape of its answer; nil for a stream of events.
  func described(_ summary: String, answers schema: JSONSchema?) -> AdminEndpoint {
    var endpoint = self
    endpoint.summary = summary
    endpoint.answerSchema = schema
    return endpoint
  }
}

/// Endpoints of one matter.
protocol AdminEndpoints: Sendable {
  var endpoints: [AdminEndpoint] { get }
}
