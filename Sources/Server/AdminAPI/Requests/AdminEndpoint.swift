import DatabaseAPI
import HTTPService
import JSONCoding

/// The declaration of an endpoint of the admin API.
///
/// The routing, the check of the arguments, the line in the log and the API's description all use
/// this one value.
///
/// ```swift
/// .get("users/show", [.user.needed], "An account", answers: User.shape, show)
/// ```
struct AdminEndpoint: Sendable {
  /// The HTTP method of an endpoint.
  enum Method: String, Sendable {
    /// A request that reads. Its arguments are in the query.
    case get = "GET"
    /// A request that changes something, or a read with arguments that are too complex for a query.
    /// Its arguments are the members of a JSON object in the body.
    case post = "POST"
  }

  /// The method; a `HEAD` request counts as `GET`.
  let method: Method
  /// The path below `/admin/v1/`.
  let path: String
  /// The permitted arguments. A request with any other argument is refused.
  let arguments: [AdminArgument]
  /// Whether the endpoint changes something. The log then names the caller of each successful
  /// request.
  let changes: Bool
  /// One line for the API's description.
  let summary: String
  /// The shape of the answer; nil for an event stream.
  let answerSchema: JSONSchema?
  /// Answers a request with checked arguments.
  let answer: @Sendable (AdminRequest) async throws -> HTTPResponse

  /// Declares an endpoint that reads, and whose answer has an ``AnswerShape``.
  static func get<Answer>(
    _ path: String, _ arguments: [AdminArgument], _ summary: String,
    answers shape: AnswerShape<Answer>,
    _ answer: @escaping @Sendable (AdminRequest) async throws -> Answer
  ) -> AdminEndpoint {
    .get(path, arguments, summary, answers: shape.schema) { request in
      HTTPResponse(try await answer(request), as: shape)
    }
  }

  /// Declares an endpoint with a request body, and whose answer has an ``AnswerShape``.
  ///
  /// - Parameter changes: whether the endpoint changes something. The log then names the caller of
  ///   each successful request.
  static func post<Answer>(
    _ path: String, _ arguments: [AdminArgument], changes: Bool = true, _ summary: String,
    answers shape: AnswerShape<Answer>,
    _ answer: @escaping @Sendable (AdminRequest) async throws -> Answer
  ) -> AdminEndpoint {
    .post(path, arguments, changes: changes, summary, answers: shape.schema) { request in
      HTTPResponse(try await answer(request), as: shape)
    }
  }

  /// Declares an endpoint that reads and builds its HTTP answer itself, such as a message of the
  /// web services protocol.
  ///
  /// - Parameter schema: the shape of the answer; nil for an event stream.
  static func get(
    _ path: String, _ arguments: [AdminArgument], _ summary: String, answers schema: JSONSchema?,
    _ answer: @escaping @Sendable (AdminRequest) async throws -> HTTPResponse
  ) -> AdminEndpoint {
    AdminEndpoint(
      method: .get, path: path, arguments: arguments, changes: false, summary: summary,
      answerSchema: schema, answer: answer)
  }

  /// Declares an endpoint with a request body that builds its HTTP answer itself.
  ///
  /// - Parameters:
  ///   - changes: whether the endpoint changes something. The log then names the caller of each
  ///     successful request.
  ///   - schema: the shape of the answer.
  static func post(
    _ path: String, _ arguments: [AdminArgument], changes: Bool = true, _ summary: String,
    answers schema: JSONSchema,
    _ answer: @escaping @Sendable (AdminRequest) async throws -> HTTPResponse
  ) -> AdminEndpoint {
    AdminEndpoint(
      method: .post, path: path, arguments: arguments, changes: changes, summary: summary,
      answerSchema: schema, answer: answer)
  }
}

/// A group of endpoints with one subject. The properties of such a type are the stores and services
/// that its endpoints use.
protocol AdminEndpoints: Sendable {
  /// The endpoints in the order of the API's description.
  var endpoints: [AdminEndpoint] { get }
}
