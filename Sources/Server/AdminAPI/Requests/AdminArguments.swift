import CloudKitModel
import Foundation
import HTTPService
import JSONCoding
import StoreModel
import WebServices

/// The checked arguments of a request to the admin API: the parameters of its query, or the members
/// of its body.
struct AdminArguments: Sendable {
  /// The values by name. All values from a query are texts.
  private let members: [String: JSONValue]
  /// The word `query` or `body`, for error messages.
  private let source: String
  /// The parsed body; nil for arguments in the query, and for an empty body.
  private let body: JSONNode?

  /// Reads and checks the arguments. The arguments of a `POST` request are the members of a JSON
  /// object in the body. The arguments of any other request are in the query.
  ///
  /// - Throws: `BAD_REQUEST` for a body that is not a JSON object, a parameter that occurs twice,
  ///   an unknown name, and a value that breaks the rule of its argument.
  init(_ request: HTTPRequest, known: [AdminArgument]) throws(ServiceError) {
    if request.method == "POST" {
      source = "body"
      body = try Self.body(request.body)
      members = body?.value.object ?? [:]
    } else {
      source = "query"
      body = nil
      var members: [String: JSONValue] = [:]
      for (name, value) in request.query {
        guard members.updateValue(.string(value), forKey: name) == nil else {
          throw ServiceError(.badRequest, "query: '\(name.prefix(80))' appears twice")
        }
      }
      self.members = members
    }
    let names = known.map(\.name)
    for name in members.keys.sorted() where !names.contains(name) {
      throw ServiceError(
        .badRequest,
        "\(source): '\(name.prefix(80))' is not known here; known are "
          + (known.isEmpty ? "none" : names.joined(separator: ", ")))
    }
    for argument in known {
      if let fault = argument.fault(in: members[argument.name]) {
        throw mistake(argument, fault)
      }
    }
  }

  private static func body(_ data: Data) throws(ServiceError) -> JSONNode? {
    guard !data.isEmpty else { return nil }
    let root: JSONNode
    do {
      root = try JSONDocument(parsing: data).root
    } catch {
      throw ServiceError(.badRequest, "body: \(error)")
    }
    guard root.isObject else {
      throw ServiceError(.badRequest, "body: must be an object, not \(root.kind)")
    }
    return root
  }

  // MARK: Checked values

  /// Returns the value as JSON; nil if it is missing or `null`.
  func value(_ argument: AdminArgument) -> JSONValue? {
    members[argument.name].flatMap { $0 == .null ? nil : $0 }
  }

  /// Returns the value as text; nil if it is missing, empty or not a text.
  func text(_ argument: AdminArgument) -> String? {
    value(argument)?.string.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Returns the value as text. Throws `BAD_REQUEST` if it is missing or empty.
  func required(_ argument: AdminArgument) throws(ServiceError) -> String {
    guard let text = text(argument) else { throw mistake(argument, "is missing") }
    return text
  }

  func texts(_ argument: AdminArgument) -> [String] {
    value(argument)?.array?.compactMap(\.string) ?? []
  }

  func bool(_ argument: AdminArgument) -> Bool? {
    value(argument).flatMap { $0.bool ?? $0.string.flatMap(Bool.init) }
  }

  func int(_ argument: AdminArgument) -> Int? {
    value(argument).flatMap(AdminArgument.int)
  }

  func word<Word: RawRepresentable<String>>(_ argument: AdminArgument) -> Word? {
    text(argument).flatMap(Word.init)
  }

  /// Returns the value as a type of the web services protocol, such as a record. The argument must
  /// be in a body.
  ///
  /// - Parameter ownerNaming: the meaning of the owner names in the value. With the default, a zone
  ///   without an owner name belongs to the database's owner.
  /// - Throws: `BAD_REQUEST` if the value is missing or invalid, with the place in the value and
  ///   the broken rule.
  func part<Part: MessagePart>(
    _ argument: AdminArgument, ownerNaming: MessageContext.OwnerNaming = .implied
  ) throws(ServiceError) -> Part {
    guard value(argument) != nil, let body else { throw mistake(argument, "is missing") }
    let reader = MessageReader(body, context: MessageContext(ownerNaming: ownerNaming))
    return try Part(reader.member(argument.name))
  }

  // MARK: Rules that an argument's declaration does not contain

  /// The rule is the end of the message, after the argument's name.
  func mistake(_ argument: AdminArgument, _ rule: String) -> ServiceError {
    ServiceError(.badRequest, "\(source): '\(argument.name)' \(rule)")
  }

  /// Runs a check of the data model and converts its error to `BAD_REQUEST`.
  func check(
    _ argument: AdminArgument, _ rule: () throws(ModelError) -> Void
  ) throws(ServiceError) {
    do {
      try rule()
    } catch {
      var mistake = mistake(argument, error.reason)
      mistake.limit = error.limit
      throw mistake
    }
  }

  // MARK: Values that many endpoints read

  /// The number of rows on a page: 1–200, 50 by default.
  var limit: Int { int(.limit) ?? 50 }

  /// Returns the container's environment that the request names, by default `development`.
  func place() throws(ServiceError) -> ContainerPlace {
    ContainerPlace(
      container: try required(.container), environment: word(.environment) ?? .development)
  }
}
