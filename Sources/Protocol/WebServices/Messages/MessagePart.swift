import CloudKitModel
import Foundation
import JSONCoding

/// A value that messages have as a member or in a list: how it is read and written, and its shape.
package protocol MessagePart {
  /// - Throws: `BAD_REQUEST` naming the place in the message and the rule.
  init(_ reader: MessageReader) throws(ServiceError)
  func write(to writer: inout JSONWriter, context: MessageContext)
  static func schema(in scope: SchemaScope) -> JSONSchema
}

/// Which description a shape is for.
package struct SchemaScope: Sendable {
  package enum Direction: Sendable {
    /// Requests take members that are not described, and several writings of some values.
    case requests
    /// Answers have the described members and no others.
    case answers
  }

  package let direction: Direction
  /// The named shapes that the shape is in: one that is in itself is referred to.
  fileprivate(set) var enclosing: [String] = []

  package static let requests = SchemaScope(direction: .requests)
  package static let answers = SchemaScope(direction: .answers)

  /// The name of a shape in this direction.
  package func name(_ name: String) -> String {
    switch direction {
    case .requests: "Asked\(name)"
    case .answers: name
    }
  }

  /// A shape under a name, and a reference to it where it is in itself.
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

extension Timestamp: MessagePart {
  package init(_ reader: MessageReader) throws(ServiceError) {
    self.init(milliseconds: try reader.milliseconds())
  }
  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.value(milliseconds)
  }
  package static func schema(in scope: SchemaScope) -> JSONSchema { .time }
}

/// A text that may have any character, unlike names and IDs.
struct FreeText: MessagePart, Hashable {
  var text: String

  init(_ text: String) { self.text = text }
  init(_ reader: MessageReader) throws(ServiceError) { text = try reader.freeText() }
  func write(to writer: inout JSONWriter, context: MessageContext) { writer.value(text) }
  static func schema(in scope: SchemaScope) -> JSONSchema { .text }
}

/// One of a type's words.
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

/// A list in which the order means nothing.
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

/// An item of an answer: what was asked for, or why it failed.
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
