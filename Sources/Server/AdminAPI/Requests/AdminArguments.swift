import CloudKitModel
import Foundation
import HTTPService
import JSONCoding
import StoreModel
import WebServices

/// What a request of the admin API asks for: the items of its query, or the members of its body.
struct AdminArguments: Sendable {
  private let members: [String: JSONValue]
  /// `query` or `body`, for messages.
  private let source: String

  /// The items of the query; for a `POST` the members of the JSON object in the body.
  ///
  /// - Throws: `BAD_REQUEST` for what is no JSON object, for items that occur twice, for names that are
  ///   not known, and for values that are not as declared.
  init(_ request: HTTPRequest, known: [AdminArgument]) throws(ServiceError) {
    if request.method == "POST" {
      source = "body"
      members = try Self.body(request.body)
    } else {
      source = "query"
      var members: [String: JSONValue] = [:]
      for (name, value) in request.query {
        guard members.updateValue(.string(value), forKey: name) == nil else {
          throw ServiceError(.badRequest, "query: '\(name.prefix(80))' is there twice")
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

  private static func body(_ data: Data) throws(ServiceError) -> [String: JSONValue] {
    guard !data.isEmpty else { return [:] }
    let json: JSONValue
    do {
      json = try JSONValue(parsing: data)
    } catch {
      throw ServiceError(.badRequest, "body: \(error)")
    }
    guard let members = json.object else {
      throw ServiceError(.badRequest, "body: must be an object, not \(json.kind)")
    }
    return members
  }

  // MARK: Values, which are as the arguments are declared

  /// Any value; nil where there is none.
  func value(_ argument: AdminArgument) -> JSONValue? {
    members[argument.name].flatMap { $0 == .null ? nil : $0 }
  }

  /// A text; nil where there is none or it is empty.
  func text(_ argument: AdminArgument) -> String? {
    value(argument)?.string.flatMap { $0.isEmpty ? nil : $0 }
  }

  func required(_ argument: AdminArgument) throws(ServiceError) -> String {
    guard let text = text(argument) else { throw mistake(argument, "is missing") }
    return text
  }

  func bool(_ argument: AdminArgument) -> Bool? {
    value(argument).flatMap { $0.bool ?? $0.string.flatMap(Bool.init) }
  }

  func int(_ argument: AdminArgument) -> Int? {
    value(argument).flatMap(AdminArgument.int)
  }

  /// One of a type's words; nil where there is none.
  func word<Word: RawRepresentable<String>>(_ argument: AdminArgument) -> Word? {
    text(argument).flatMap(Word.init)
  }

  /// A value with a shape of the protocol's. A zone without an owner is the user's own.
  ///
  /// - Throws: `BAD_REQUEST` naming the place in the value and the rule.
  func part<Part: MessagePart>(_ argument: AdminArgument) throws(ServiceError) -> Part {
    guard let value = value(argument) else { throw mistake(argument, "is missing") }
    let body = Data(JSONValue.object([argument.name: value]).text.utf8)
    let reader = try MessageReader(parsing: body, context: MessageContext(ownerNaming: .implied))
    return try Part(reader.member(argument.name))
  }

  // MARK: Rules beyond a declaration

  func mistake(_ argument: AdminArgument, _ rule: String) -> ServiceError {
    ServiceError(.badRequest, "\(source): '\(argument.name)' \(rule)")
  }

  /// A rule of the data model that a value must keep.
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

  /// How many rows a page is to have; 50 unless the request says it.
  var limit: Int { int(.limit) ?? 50 }

  /// A container's environment, by default `development`.
  func place() throws(ServiceError) -> ContainerPlace {
    let container = try required(.container)
    guard container.hasPrefix("iCloud."), container.utf8.count <= 255 else {
      throw mistake(.container, "must begin with 'iCloud.'")
    }
    return ContainerPlace(
      container: container, environment: word(.environment) ?? .development)
  }
}
