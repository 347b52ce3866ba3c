import CloudKitModel
import Foundation
import JSONCoding

/// A value that may be a member of a message or an element of a list. Each part can be read,
/// written and described by a JSON Schema.
package protocol MessagePart {
  /// Throws `BAD_REQUEST` with the place in the message and the rule.
  init(_ reader: MessageReader) throws(ServiceError)
  func write(to writer: inout JSONWriter, context: MessageContext)
  static func schema(in scope: SchemaScope) -> JSONSchema
}

/// The place for which a JSON Schema is made: in requests or in answers, and inside of which other
/// schemas.
package struct SchemaScope: Sendable {
  /// The direction of a message, which decides how strict its schema is.
  package enum Direction: Sendable {
    /// Requests may have members that the schema does not name, and several spellings of some
    /// values.
    case requests
    /// Answers have the members of the schema and no others.
    case answers
  }

  package let direction: Direction
  /// The names of the schemas that enclose the place. A schema inside of itself becomes a reference
  /// to its name.
  fileprivate(set) var enclosing: [String] = []

  package static let requests = SchemaScope(direction: .requests)
  package static let answers = SchemaScope(direction: .answers)

  /// Returns the name of a schema in this direction. A name in requests begins with `Asked`,
  /// because the schemas of requests and answers differ.
  package func name(_ name: String) -> String {
    switch direction {
    case .requests: "Asked\(name)"
    case .answers: name
    }
  }

  /// Returns a schema under a name, or a reference to the name when the schema is inside of itself.
  package func named(_ name: String, _ schema: (SchemaScope) -> JSONSchema) -> JSONSchema {
    let name = self.name(name)
    guard !enclosing.contains(name) else { return .reference(to: name) }
    var inner = self
    inner.enclosing.append(name)
    return schema(inner).named(name)
  }
}

// MARK: Plain values

extension String: MessagePart {
  package init(_ reader: MessageReader) throws(ServiceError) { self = try reader.string() }
  package func write(to writer: inout JSONWriter, context: MessageContext) { writer.value(self) }
  package static func schema(in scope: SchemaScope) -> JSONSchema { .text }
}

extension Bool: MessagePart {
  package init(_ reader: MessageReader) throws(ServiceError) { self = try reader.bool() }
  package func write(to writer: inout JSONWriter, context: MessageContext) { writer.value(self) }
  package static func schema(in scope: SchemaScope) -> JSONSchema { .bool }
}

extension Int: MessagePart {
  package init(_ reader: MessageReader) throws(ServiceError) { self = Int(try reader.int()) }
  package func write(to writer: inout JSONWriter, context: MessageContext) { writer.value(self) }
  package static func schema(in scope: SchemaScope) -> JSONSchema { .integer }
}

extension Int64: MessagePart {
  package init(_ reader: MessageReader) throws(ServiceError) { self = try reader.int() }
  package func write(to writer: inout JSONWriter, context: MessageContext) { writer.value(self) }
  package static func schema(in scope: SchemaScope) -> JSONSchema { .integer }
}

extension Double: MessagePart {
  package init(_ reader: MessageReader) throws(ServiceError) { self = try reader.double() }
  package func write(to writer: inout JSONWriter, context: MessageContext) { writer.value(self) }
  package static func schema(in scope: SchemaScope) -> JSONSchema { .number }
}

/// A time as the number of milliseconds since 1970-01-01 00:00 UTC.
extension Timestamp: MessagePart {
  package init(_ reader: MessageReader) throws(ServiceError) {
    self.init(milliseconds: try reader.milliseconds())
  }
  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.value(milliseconds)
  }
  package static func schema(in scope: SchemaScope) -> JSONSchema { .time }
}

/// A text that may contain any character, unlike names and IDs.
struct FreeText: MessagePart, Hashable {
  var text: String

  init(_ text: String) { self.text = text }
  init(_ reader: MessageReader) throws(ServiceError) { text = try reader.freeText() }
  func write(to writer: inout JSONWriter, context: MessageContext) { writer.value(text) }
  static func schema(in scope: SchemaScope) -> JSONSchema { .text }
}

/// An enumeration with string values. A message contains the raw value; reading any other string
/// fails with `BAD_REQUEST`.
extension MessagePart where Self: RawRepresentable<String> & CaseIterable {
  package init(_ reader: MessageReader) throws(ServiceError) {
    let word = try reader.string()
    guard let value = Self(rawValue: word) else {
      throw reader.mistake(
        "'\(word)' must be one of " + Self.allCases.map(\.rawValue).joined(separator: ", "))
    }
    self = value
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.value(rawValue)
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    .word(allCases.map(\.rawValue))
  }
}

// MARK: Lists

/// A list. If one element cannot be read, reading the whole list fails.
extension Array: MessagePart where Element: MessagePart {
  package init(_ reader: MessageReader) throws(ServiceError) {
    self = []
    for element in try reader.elements() { append(try Element(element)) }
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.array { writer in
      for element in self { element.write(to: &writer, context: context) }
    }
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    .list(Element.schema(in: scope))
  }
}

/// A list whose order has no meaning. The elements are written in ascending order, and repeated
/// elements count once.
extension Set: MessagePart where Element: MessagePart & Comparable {
  package init(_ reader: MessageReader) throws(ServiceError) {
    self = Set(try [Element](reader))
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    sorted().write(to: &writer, context: context)
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    [Element].schema(in: scope)
  }
}

/// An item of an answer: its result, or the error of the item.
extension Result: MessagePart where Success: MessagePart, Failure == FailedItem {
  package init(_ reader: MessageReader) throws(ServiceError) {
    if let failed = FailedItem(reader) {
      self = .failure(failed)
    } else {
      self = .success(try Success(reader))
    }
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    switch self {
    case .success(let item): item.write(to: &writer, context: context)
    case .failure(let failed): failed.write(to: &writer, context: context)
    }
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    .any(of: [Success.schema(in: scope), FailedItem.schema])
  }
}
