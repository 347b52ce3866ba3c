import CloudKitModel
import Foundation
import HTTPService
import JSONCoding
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
        throw mistake(argument.name, fault)
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

  /// Any value; nil where there is none.
  func value(_ name: String) -> JSONValue? {
    members[name].flatMap { $0 == .null ? nil : $0 }
  }

  func mistake(_ name: String, _ rule: String) -> ServiceError {
    ServiceError(.badRequest, "\(source): '\(name)' \(rule)")
  }

  /// A value with a shape of the protocol's. A zone without an owner is the user's own.
  ///
  /// - Throws: `BAD_REQUEST` naming the place in the value and the rule.
  func part<Part: MessagePart>(_ name: String) throws(ServiceError) -> Part {
    guard let value = value(name) else { throw mistake(name, "is missing") }
    let body = Data(JSONValue.object([name: value]).text.utf8)
    let reader = try MessageReader(parsing: body, context: MessageContext(ownerNaming: .implied))
    return try Part(reader.member(name))
  }

  /// A rule of the data model that a value must keep.
  func check(_ name: String, _ rule: () throws(ModelError) -> Void) throws(ServiceError) {
    do {
      try rule()
    } catch {
      var mistake = mistake(name, error.reason)
      mistake.limit = error.limit
      throw mistake
    }
  }

  /// A text; nil where there is none or it is empty.
  func text(_ name: String) throws(ServiceError) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.string else {
      throw mistake(name, "must be a string, not \(value.kind)")
    }
    return text.isEmpty ? nil : text
  }

  func required(_ name: String) throws(ServiceError) -> String {
    guard let text = try text(name) else { throw mistake(name, "is missing") }
    return text
  }

  func bool(_ name: String) throws(ServiceError) -> Bool? {
    guard let value = value(name) else { return nil }
    if let bool = value.bool { return bool }
    switch value.string {
    case "true": return true
    case "false": return false
    default: throw mistake(name, "must be true or false")
    }
  }

  func int(_ name: String, in range: ClosedRange<Int>) throws(ServiceError) -> Int? {
    guard let value = value(name) else { return nil }
    let int = value.int.flatMap { Int(exactly: $0) } ?? value.string.flatMap { Int($0) }
    guard let int, range.contains(int) else {
      throw mistake(
        name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return int
  }

  /// How many rows a page is to have: the argument `limit`, from 1 to 200; 50 where there is none.
  func limit() throws(ServiceError) -> Int {
    try int("limit", in: 1...200) ?? 50
  }

  /// An element of `words` by its raw value.
  func word<Word: RawRepresentable<String> & CaseIterable>(
    _ name: String
  ) throws(ServiceError) -> Word? {
    guard let text = try text(name) else { return nil }
    guard let word = Word(rawValue: text) else {
      throw mistake(
        name,
        "must be \(Word.allCases.map(\.rawValue).joined(separator: ", ")), not '\(text.prefix(80))'"
      )
    }
    return word
  }

  /// A container's environment: the arguments `container` and `environment`, by default
  /// `development`.
  func place() throws(ServiceError) -> (container: String, environment: ContainerEnvironment) {
    let container = try required("container")
    guard container.hasPrefix("iCloud."), container.utf8.count <= 255 else {
      throw mistake("container", "must begin with 'iCloud.'")
    }
    return (container, try word("environment") ?? .development)
  }
}
