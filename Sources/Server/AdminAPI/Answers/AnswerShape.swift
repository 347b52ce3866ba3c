import CloudKitModel
import JSONCoding
import StoreModel
import WebServices

/// How the admin API answers a value: as a JSON object whose members are declared once. Writing it and its shape in the
/// description follow.
///
/// ```swift
/// static let shape = AnswerShape<User>("User") { user in
///   user.member("name") { $0.name }
///   user.optional("emailAddress") { $0.profile.emailAddress }
/// }
/// ```
struct AnswerShape<Value>: Sendable {
  private let members: Members
  /// The shape in the description.
  let schema: JSONSchema

  /// - Parameter name: what the description calls it; nil for a shape that is described where it stands.
  init(_ name: String? = nil, _ declare: (inout Members) -> Void) {
    var members = Members()
    declare(&members)
    self.members = members
    let schema = JSONSchema.object(members.schemas)
    self.schema = name.map { schema.named($0) } ?? schema
  }

  func write(_ value: Value, to writer: inout JSONWriter) {
    writer.object { members.write(value, to: &$0) }
  }

  func text(_ value: Value) -> String {
    var writer = JSONWriter()
    write(value, to: &writer)
    return writer.text
  }

  /// The members of an object, in the order in which they are written.
  struct Members: Sendable {
    /// By their names, with a `?` behind the names of those that may be missing.
    fileprivate var schemas: [String: JSONSchema] = [:]
    private var writers: [@Sendable (Value, inout JSONWriter) -> Void] = []

    fileprivate func write(_ value: Value, to writer: inout JSONWriter) {
      for write in writers { write(value, &writer) }
    }

    private mutating func add(
      _ name: String, _ schema: JSONSchema,
      _ write: @escaping @Sendable (Value, inout JSONWriter) -> Void
    ) {
      schemas[name] = schema
      writers.append(write)
    }

    /// A member that each answer has.
    ///
    /// - Parameter schema: its shape, where that is narrower than its type's.
    mutating func member<Part: MessagePart & Sendable>(
      _ name: String, as schema: JSONSchema? = nil, _ part: @escaping @Sendable (Value) -> Part
    ) {
      add(name, schema ?? Part.schema(in: .answers)) { value, writer in
        writer.key(name)
        part(value).write(to: &writer, context: .explicit)
      }
    }

    /// A member that is not written where there is nothing.
    mutating func optional<Part: MessagePart & Sendable>(
      _ name: String, as schema: JSONSchema? = nil, _ part: @escaping @Sendable (Value) -> Part?
    ) {
      add(name + "?", schema ?? Part.schema(in: .answers)) { value, writer in
        guard let part = part(value) else { return }
        writer.key(name)
        part.write(to: &writer, context: .explicit)
      }
    }

    /// A member that is null where nothing is known.
    mutating func nullable<Part: MessagePart & Sendable>(
      _ name: String, as schema: JSONSchema? = nil, _ part: @escaping @Sendable (Value) -> Part?
    ) {
      add(name, (schema ?? Part.schema(in: .answers)).orNull) { value, writer in
        writer.key(name)
        if let part = part(value) {
          part.write(to: &writer, context: .explicit)
        } else {
          writer.null()
        }
      }
    }

    mutating func object<Inner>(
      _ name: String, _ shape: AnswerShape<Inner>, _ inner: @escaping @Sendable (Value) -> Inner
    ) {
      add(name, shape.schema) { value, writer in
        writer.key(name)
        shape.write(inner(value), to: &writer)
      }
    }

    /// An object that is not written where there is none.
    mutating func optional<Inner>(
      _ name: String, _ shape: AnswerShape<Inner>, _ inner: @escaping @Sendable (Value) -> Inner?
    ) {
      add(name + "?", shape.schema) { value, writer in
        guard let inner = inner(value) else { return }
        writer.key(name)
        shape.write(inner, to: &writer)
      }
    }

    mutating func list<Element>(
      _ name: String, of shape: AnswerShape<Element>,
      _ elements: @escaping @Sendable (Value) -> [Element]
    ) {
      add(name, .list(shape.schema)) { value, writer in
        writer.key(name)
        writer.array { writer in
          for element in elements(value) { shape.write(element, to: &writer) }
        }
      }
    }

    /// An object whose members have names of others' choice.
    ///
    /// - Parameter isOptional: whether one without members is not written.
    mutating func map<Part: MessagePart & Sendable>(
      _ name: String, as schema: JSONSchema? = nil, isOptional: Bool = false,
      _ parts: @escaping @Sendable (Value) -> [String: Part]
    ) {
      let schema = JSONSchema.map(schema ?? Part.schema(in: .answers))
      add(isOptional ? name + "?" : name, schema) { value, writer in
        let parts = parts(value)
        guard !parts.isEmpty || !isOptional else { return }
        writer.key(name)
        writer.object { writer in
          for (name, part) in parts.sorted(by: { $0.key < $1.key }) {
            writer.key(name)
            part.write(to: &writer, context: .explicit)
          }
        }
      }
    }

    /// The members of another shape, as if they were this one's.
    mutating func members<Inner>(
      of shape: AnswerShape<Inner>, _ inner: @escaping @Sendable (Value) -> Inner
    ) {
      schemas.merge(shape.members.schemas) { $1 }
      writers.append { value, writer in shape.members.write(inner(value), to: &writer) }
    }
  }
}

extension MessageContext {
  /// Names stand in answers of the admin API as the store has them.
  static let explicit = MessageContext(ownerNaming: .explicit)
}

// MARK: Frequent shapes

/// A page of a list.
struct AdminPage<Element> {
  var elements: [Element] = []
  /// Asks for the next page; nil on the last.
  var continuation: String?
}

extension AnswerShape {
  /// All that there is of something.
  static func list<Element>(
    _ name: String, of element: AnswerShape<Element>
  ) -> AnswerShape where Value == [Element] {
    AnswerShape { $0.list(name, of: element) { $0 } }
  }

  static func page<Element>(
    _ name: String, of element: AnswerShape<Element>
  ) -> AnswerShape where Value == AdminPage<Element> {
    AnswerShape { page in
      page.list(name, of: element) { $0.elements }
      page.optional("continuation") { $0.continuation }
    }
  }

  /// A single member.
  static func member(_ name: String) -> AnswerShape where Value: MessagePart & Sendable {
    AnswerShape { $0.member(name) { $0 } }
  }
}

// MARK: Values that several shapes have

extension ContainerEnvironment: MessagePart {}

extension JSONSchema {
  static let databaseScope = word(DatabaseScope.allCases.map(\.pathComponent))
}

extension ContainerPlace {
  /// The members that say which environment of which container is meant.
  static let shape = AnswerShape<ContainerPlace> { place in
    place.member("container") { $0.container }
    place.member("environment") { $0.environment }
  }
}
