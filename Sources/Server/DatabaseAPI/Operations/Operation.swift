import CloudKitModel
import Foundation
import JSONCoding
import WebServices

/// An operation of CloudKit Web Services, or one of Petrel's own: its name, methods, access,
/// handler and documentation.
///
/// The routing, the access checks, the use of signatures, the names in metrics and
/// `docs/reference/openapi.yaml` all depend on this value. An endpoint declares its operations in
/// `operations`, and ``OperationTable`` lists the endpoints.
///
/// ```swift
/// Operation(
///   "tokens/badge", of: .container, for: .accounts, .changes, badge,
///   .init("Tokens", "Set the badge that the caller's devices count from", answer: "The badge."))
/// ```
package final class Operation: Sendable {
  /// The place in the operation's path, to which the operation belongs.
  enum Place: Sendable {
    case database(Set<DatabaseScope>)
    /// A container's environment.
    case container

    static let anyDatabase = Place.database(Set(DatabaseScope.allCases))
  }

  /// The callers who may call the operation. `AccessPolicy` decides later about single records.
  enum Callers: Sendable {
    /// Every caller, on the public database or a container. On a private or shared database,
    /// signed-in users only.
    case everyone
    /// Signed-in users, and programs with a server-to-server key (on the public database or a
    /// container only).
    case accounts
    /// Signed-in users only.
    case users
    /// Programs with a server-to-server key only.
    case programs
  }

  /// The effect of the operation on the store.
  enum Effect: Sendable {
    /// It changes nothing, so a client may repeat a signed request.
    case reads
    /// It changes something, so a signature is good for one request.
    case changes
    /// It changes something, and the store keeps the answer with the change. A request with a used
    /// signature gets the answer of the first one.
    case changesKeepingAnswer
  }

  /// The operation's entry in the OpenAPI description.
  struct Documentation: Sendable {
    /// The chapter of the description that lists the operation, such as `Records`.
    var chapter: String
    /// One line that says what the operation does.
    var summary: String
    var details: String?
    var answer: String

    init(_ chapter: String, _ summary: String, _ details: String? = nil, answer: String) {
      self.chapter = chapter
      self.summary = summary
      self.details = details
      self.answer = answer
    }
  }

  /// The last two or three words of the path, such as `records/modify`.
  let name: String
  let place: Place
  let callers: Callers
  let effect: Effect
  /// Whether a request needs no arguments, and may therefore be a GET.
  let takesGET: Bool
  /// The text of the error for a database of another scope; nil for a general sentence.
  let otherDatabases: String?
  /// Whether participants of shares call the operation about their shares. The metrics count its
  /// refusals with those of shared databases.
  let isOfParticipants: Bool
  let documentation: Documentation
  /// The JSON schema of the request's body; nil for an operation without arguments.
  let request: JSONSchema?
  let answer: JSONSchema
  /// Executes a request and returns the JSON of the answer. The router calls it after the access
  /// checks.
  package let respond: @Sendable (RequestContext) async throws -> Data

  /// Creates an operation with arguments, which takes POST only.
  convenience init<Request: Message, Answer: Message>(
    _ name: String, of place: Place, for callers: Callers, _ effect: Effect,
    _ handler: @escaping @Sendable (Request, RequestContext) async throws -> Answer,
    otherDatabases: String? = nil, isOfParticipants: Bool = false, _ documentation: Documentation
  ) {
    self.init(
      name, place, callers, effect, takesGET: false, otherDatabases, isOfParticipants,
      documentation,
      Request.schema(in: .requests), Answer.schema(in: .answers)
    ) { context in try await context.answer(handler) }
  }

  /// Creates an operation whose arguments are optional. If the body is empty, the handler gets nil.
  convenience init<Request: Message, Answer: Message>(
    _ name: String, of place: Place, for callers: Callers, _ effect: Effect,
    maybe handler: @escaping @Sendable (Request?, RequestContext) async throws -> Answer,
    _ documentation: Documentation
  ) {
    self.init(
      name, place, callers, effect, takesGET: true, nil, false, documentation,
      Request.schema(in: .requests), Answer.schema(in: .answers)
    ) { context in
      guard context.body.isEmpty else { return try await context.answer(handler) }
      return try await handler(nil, context).body(context: context.messageContext())
    }
  }

  /// Creates an operation without arguments. The body of a request is ignored.
  convenience init<Answer: Message>(
    _ name: String, of place: Place, for callers: Callers, _ effect: Effect,
    _ handler: @escaping @Sendable (RequestContext) async throws -> Answer,
    _ documentation: Documentation
  ) {
    self.init(
      name, place, callers, effect, takesGET: true, nil, false, documentation, nil,
      Answer.schema(in: .answers)
    ) { context in try await handler(context).body(context: context.messageContext()) }
  }

  private init(
    _ name: String, _ place: Place, _ callers: Callers, _ effect: Effect, takesGET: Bool,
    _ otherDatabases: String?, _ isOfParticipants: Bool, _ documentation: Documentation,
    _ request: JSONSchema?,
    _ answer: JSONSchema, respond: @escaping @Sendable (RequestContext) async throws -> Data
  ) {
    self.name = name
    self.place = place
    self.callers = callers
    self.effect = effect
    self.takesGET = takesGET
    self.otherDatabases = otherDatabases
    self.isOfParticipants = isOfParticipants
    self.documentation = documentation
    self.request = request
    self.answer = answer
    self.respond = respond
  }

  var methods: [String] { takesGET ? ["GET", "HEAD", "POST"] : ["POST"] }
}

extension RequestContext {
  /// Parses the body, calls the handler, and encodes its answer.
  func answer<Request: Message, Answer: Message>(
    _ handler: @Sendable (Request, RequestContext) async throws -> Answer
  ) async throws -> Data {
    let message = messageContext()
    let request = try Request(parsing: body, context: message)
    return try await handler(request, self).body(context: message)
  }
}
