import DatabaseAPI
import HTTPService
import JSONCoding

/// One thing that the admin API answers: all that the server knows of it. Routing, reading the arguments, the log's line
/// and the description of the API follow from this value.
///
/// ```swift
/// .get("users/show", [.user.needed], "An account", answers: User.shape, show)
/// ```
struct AdminEndpoint: Sendable {
  enum Method: String, Sendable {
    /// Reads; arguments stand in the query.
    case get = "GET"
    /// Changes something, or reads by what does not fit a query; arguments are the members of a JSON
    /// object in the body.
    case post = "POST"
  }

  let method: Method
  /// What stands behind `/admin/v1/`.
  let path: String
  /// Others are refused.
  let arguments: [AdminArgument]
  /// Whether it changes something, so that the log says who did.
  let changes: Bool
  /// One line of what it does, for the description of the API.
  let summary: String
  /// The shape of its answer; nil for a stream of events.
  let answerSchema: JSONSchema?
  let answer: @Sendable (AdminRequest) async throws -> HTTPResponse

  /// Reads something.
  static func get<Answer>(
    _ path: String, _ arguments: [AdminArgument], _ summary: String,
    answers shape: AnswerShape<Answer>,
    _ answer: @escaping @Sendable (AdminRequest) async throws -> Answer
  ) -> AdminEndpoint {
    .get(path, arguments, summary, answers: shape.schema) { request in
      HTTPResponse(try await answer(request), as: shape)
    }
  }

  /// - Parameter changes: whether it changes something, so that the log says who did.
  static func post<Answer>(
    _ path: String, _ arguments: [AdminArgument], changes: Bool = true, _ summary: String,
    answers shape: AnswerShape<Answer>,
    _ answer: @escaping @Sendable (AdminRequest) async throws -> Answer
  ) -> AdminEndpoint {
    .post(path, arguments, changes: changes, summary, answers: shape.schema) { request in
      HTTPResponse(try await answer(request), as: shape)
    }
  }

  /// Reads something that is answered by other means than an ``AnswerShape``, such as a message of the protocol.
  ///
  /// - Parameter schema: the shape of the answer; nil for a stream of events.
  static func get(
    _ path: String, _ arguments: [AdminArgument], _ summary: String, answers schema: JSONSchema?,
    _ answer: @escaping @Sendable (AdminRequest) async throws -> HTTPResponse
  ) -> AdminEndpoint {
    AdminEndpoint(
      method: .get, path: path, arguments: arguments, changes: false, summary: summary,
      answerSchema: schema, answer: answer)
  }

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

/// Endpoints of one subject.
protocol AdminEndpoints: Sendable {
  var endpoints: [AdminEndpoint] { get }
}
