import DatabaseAPI
import HTTPService
import JSONCoding

/// The declaration of an endpoint of the admin API.
///
/// The routing, the check of the arguments, the line in the log, the API's description, and the
/// commands of `petrel` all use this one value.
package struct AdminEndpoint: Sendable {
  /// The HTTP method of an endpoint.
  package enum Method: String, Sendable {
    /// A request that reads. Its arguments are in the query.
    case get = "GET"
    /// A request that changes something, or a read with arguments that are too complex for a query.
    /// Its arguments are the members of a JSON object in the body.
    case post = "POST"
  }

  /// The method; a `HEAD` request counts as `GET`.
  package let method: Method
  /// The path below `/admin/v1/`.
  package let path: String
  /// The permitted arguments. A request with any other argument is refused.
  package let arguments: [AdminArgument]
  /// Whether the endpoint changes something. The log then names the caller of each successful
  /// request.
  let changes: Bool
  let summary: String
  /// The shape of the answer; nil for an event stream.
  let answerSchema: JSONSchema?
}

/// An endpoint, with the function of its group that answers requests with checked arguments.
///
/// ```swift
/// .get("users/show", [.user.needed], "An account", answers: User.shape, Self.show)
/// ```
struct AdminHandler<Group: Sendable>: Sendable {
  typealias Function<Answer> =
    @Sendable (Group) -> (@Sendable (AdminRequest) async throws -> Answer)

  let endpoint: AdminEndpoint
  let answer: Function<HTTPResponse>

  /// Declares an endpoint that reads, and whose answer has an ``AnswerShape``.
  static func get<Answer>(
    _ path: String, _ arguments: [AdminArgument], _ summary: String,
    answers shape: AnswerShape<Answer>, _ answer: @escaping Function<Answer>
  ) -> Self {
    .get(path, arguments, summary, answers: shape.schema) { group in
      { HTTPResponse(try await answer(group)($0), as: shape) }
    }
  }

  /// Declares an endpoint with a request body, and whose answer has an ``AnswerShape``.
  static func post<Answer>(
    _ path: String, _ arguments: [AdminArgument], changes: Bool = true, _ summary: String,
    answers shape: AnswerShape<Answer>, _ answer: @escaping Function<Answer>
  ) -> Self {
    .post(path, arguments, changes: changes, summary, answers: shape.schema) { group in
      { HTTPResponse(try await answer(group)($0), as: shape) }
    }
  }

  /// Declares an endpoint that reads and builds its HTTP answer itself, such as a message of the
  /// web services protocol.
  static func get(
    _ path: String, _ arguments: [AdminArgument], _ summary: String, answers schema: JSONSchema?,
    _ answer: @escaping Function<HTTPResponse>
  ) -> Self {
    Self(
      endpoint: AdminEndpoint(
        method: .get, path: path, arguments: arguments, changes: false, summary: summary,
        answerSchema: schema), answer: answer)
  }

  /// Declares an endpoint with a request body that builds its HTTP answer itself.
  static func post(
    _ path: String, _ arguments: [AdminArgument], changes: Bool = true, _ summary: String,
    answers schema: JSONSchema, _ answer: @escaping Function<HTTPResponse>
  ) -> Self {
    Self(
      endpoint: AdminEndpoint(
        method: .post, path: path, arguments: arguments, changes: changes, summary: summary,
        answerSchema: schema), answer: answer)
  }
}

/// A group of endpoints with one subject. The properties of such a type are the stores and services
/// that its endpoints use.
protocol AdminEndpoints: Sendable {
  /// The endpoints in the order of the API's description.
  static var endpoints: [AdminHandler<Self>] { get }
}

extension AdminEndpoints {
  static var declarations: [AdminEndpoint] { endpoints.map(\.endpoint) }
}

extension AdminEndpoint {
  /// All groups except those of a browser's session and of the API's description.
  private static let groups: [any AdminEndpoints.Type] = [
    AdminPlacesEndpoints.self, AdminRecordsEndpoints.self, AdminChangesEndpoints.self,
    AdminSchemaEndpoints.self, AdminSubscriptionsEndpoints.self, AdminSharesEndpoints.self,
    AdminUsersEndpoints.self, AdminAccountsEndpoints.self, AdminUserDeletionEndpoints.self,
    AdminUserHoldingsEndpoints.self, AdminRolesEndpoints.self, AdminKeysEndpoints.self,
    AdminServersEndpoints.self, AdminBackgroundEndpoints.self, AdminPartitionEndpoints.self,
    AdminExplainEndpoints.self,
    AdminPushesEndpoints.self,
  ]

  /// The endpoints that commands may call.
  package static let all: [AdminEndpoint] = groups.flatMap { $0.declarations }

  package static func get(_ path: String) -> AdminEndpoint { declared(.get, path) }

  package static func post(_ path: String) -> AdminEndpoint { declared(.post, path) }

  private static func declared(_ method: Method, _ path: String) -> AdminEndpoint {
    guard let endpoint = all.first(where: { $0.method == method && $0.path == path }) else {
      // The callers are declarations of commands, and each test of the commands reads all of them.
      preconditionFailure("the admin API has no endpoint '\(method.rawValue) \(path)'")
    }
    return endpoint
  }
}
