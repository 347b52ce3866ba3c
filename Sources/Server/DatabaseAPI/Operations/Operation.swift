import CloudKitModel
import Foundation
import JSONCoding
import WebServices

/// An operation of CloudKit Web Services, or one of Petrel's own: all that the server knows of it.
///
/// Routing, methods, access, signatures, names in metrics and `docs/openapi.yaml` follow from this value. An
/// endpoint declares its operations in `operations`, and ``OperationTable`` lists the endpoints.
///
/// ```swift
/// Operation(
///   "tokens/badge", of: .container, for: .accounts, .changes, badge,
///   .init("Tokens", "Set the badge that the caller's devices count from", answer: "The badge."))
/// ```
package final class Operation: Sendable {
  /// What its path names.
  enum Place: Sendable {
    /// A database with one of these scopes.
    case database(Set<DatabaseScope>)
    /// A container's environment.
    case container

    static let anyDatabase = Place.database(Set(DatabaseScope.allCases))
  }

  /// Who may call it. What a caller may do with single records is decided elsewhere.
  enum Callers: Sendable {
    /// All for the public database, and accounts for their own.
    case everyone
    /// Users who are signed in, and programs with a server-to-server key.
    case accounts
    /// Users who are signed in.
    case users
    /// Programs with a server-to-server key.
    case programs
  }

  enum Effect: Sendable {
    /// Changes nothing, so that a signed request for it may come again.
    case reads
    case changes
  }

  /// What the description says of it.
  struct Documentation: Sendable {
    /// The chapter of the description.
    var chapter: String
    /// One line of what it does.
    var summary: String
    var details: String?
    /// What the answer is.
    var answer: String

    init(_ chapter: String, _ summary: String, _ details: String? = nil, answer: String) {
      self.chapter = chapter
      self.summary = summary
      self.details = details
      self.answer = answer
    }
  }

  /// Such as `records/modify`.
  let name: String
  let place: Place
  let callers: Callers
  let effect: Effect
  /// Whether a request may be without arguments, and so be a GET.
  let takesGET: Bool
  /// Why it is not for the other databases; nil for a sentence that fits all.
  let otherDatabases: String?
  let documentation: Documentation
  /// The shape of the body; nil for a request without arguments.
  let request: JSONSchema?
  let answer: JSONSchema
  /// Carries a request out, once access was checked.
  package let respond: @Sendable (RequestContext) async throws -> Data

  /// An operation with arguments.
  ///
  /// - Parameter otherDatabases: why it is not for the other databases; nil for a sentence that fits all.
  convenience init<Request: Message, Answer: Message>(
    _ name: String, of place: Place, for callers: Callers, _ effect: Effect,
    _ handler: @escaping @Sendable (Request, RequestContext) async throws -> Answer,
    otherDatabases: String? = nil, _ documentation: Documentation
  ) {
    self.init(
      name, place, callers, effect, takesGET: false, otherDatabases, documentation,
      Request.schema(in: .requests), Answer.schema(in: .answers)
    ) { context in try await context.answer(handler) }
  }

  /// An operation that can do without arguments.
  convenience init<Request: Message, Answer: Message>(
    _ name: String, of place: Place, for callers: Callers, _ effect: Effect,
    maybe handler: @escaping @Sendable (Request?, RequestContext) async throws -> Answer,
    _ documentation: Documentation
  ) {
    self.init(
      name, place, callers, effect, takesGET: true, nil, documentation,
      Request.schema(in: .requests), Answer.schema(in: .answers)
    ) { context in
      guard context.body.isEmpty else { return try await context.answer(handler) }
      return try await handler(nil, context).body(context: context.messageContext())
    }
  }

  /// An operation without arguments. Whatever body a request has is not looked at.
  convenience init<Answer: Message>(
    _ name: String, of place: Place, for callers: Callers, _ effect: Effect,
    _ handler: @escaping @Sendable (RequestContext) async throws -> Answer,
    _ documentation: Documentation
  ) {
    self.init(
      name, place, callers, effect, takesGET: true, nil, documentation, nil,
      Answer.schema(in: .answers)
    ) { context in try await handler(context).body(context: context.messageContext()) }
  }

  private init(
    _ name: String, _ place: Place, _ callers: Callers, _ effect: Effect, takesGET: Bool,
    _ otherDatabases: String?, _ documentation: Documentation, _ request: JSONSchema?,
    _ answer: JSONSchema, respond: @escaping @Sendable (RequestContext) async throws -> Data
  ) {
    self.name = name
    self.place = place
    self.callers = callers
    self.effect = effect
    self.takesGET = takesGET
    self.otherDatabases = otherDatabases
    self.documentation = documentation
    self.request = request
    self.answer = answer
    self.respond = respond
  }

  var methods: [String] { takesGET ? ["GET", "HEAD", "POST"] : ["POST"] }
}

extension RequestContext {
  /// Reads the body, has the request carried out and writes the answer.
  func answer<Request: Message, Answer: Message>(
    _ handler: @Sendable (Request, RequestContext) async throws -> Answer
  ) async throws -> Data {
    let message = messageContext()
    let request = try Request(parsing: body, context: message)
    return try await handler(request, self).body(context: message)
  }
}
