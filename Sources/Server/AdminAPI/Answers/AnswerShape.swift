import CloudKitModel
import JSONCoding
import StoreModel
import WebServices

/// The shape of a value in answers of the admin API: the members of a JSON object. The encoding of
/// the value and the schema in the API's description both use this declaration.
///
/// ```swift
/// static let shape = AnswerShape<User>("User") { user in
///   user.member("name") { $0.name }
///   user.optional("emailAddress") { $0.profile.emailAddress }
/// }
/// ```
struct AnswerShape<Value>: Sendable {
  private let members: Members
  let schema: JSONSchema

  /// Declares a shape. Without a name, the description repeats it at each place that uses it.
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

  /// The members of an object, in the order of the encoding.
  struct Members: Sendable {
    /// The members' schemas by name. A name ends with `?` if the member may be missing.
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

    /// Adds a member that each object has. `schema` is nil for the schema of `Part`.
    mutating func member<Part: MessagePart & Sendable>(
      _ name: String, as schema: JSONSchema? = nil, _ part: @escaping @Sendable (Value) -> Part
    ) {
      add(name, schema ?? Part.schema(in: .answers)) { value, writer in
        writer.key(name)
        part(value).write(to: &writer, context: .explicit)
      }
    }

    /// Adds a member that is left out if its value is nil.
    mutating func optional<Part: MessagePart & Sendable>(
      _ name: String, as schema: JSONSchema? = nil, _ part: @escaping @Sendable (Value) -> Part?
    ) {
      add(name + "?", schema ?? Part.schema(in: .answers)) { value, writer in
        guard let part = part(value) else { return }
        writer.key(name)
        part.write(to: &writer, context: .explicit)
      }
    }

    /// Adds a member that is `null` if its value is nil.
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

    /// Adds a member that is an object, and that each object has.
    mutating func object<Inner>(
      _ name: String, _ shape: AnswerShape<Inner>, _ inner: @escaping @Sendable (Value) -> Inner
    ) {
      add(name, shape.schema) { value, writer in
        writer.key(name)
        shape.write(inner(value), to: &writer)
      }
    }

    /// Adds a member that is an object. The member is left out if its value is nil.
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

    /// Adds a member that is a dictionary: an object whose member names are data, such as user
    /// record names. The names are written in alphabetical order.
    ///
    /// - Parameter isOptional: whether an empty object is left out.
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

    /// Adds the members of another shape directly to this object.
    mutating func members<Inner>(
      of shape: AnswerShape<Inner>, _ inner: @escaping @Sendable (Value) -> Inner
    ) {
      schemas.merge(shape.members.schemas) { $1 }
      writers.append { value, writer in shape.members.write(inner(value), to: &writer) }
    }
  }
}

extension MessageContext {
  /// Owner names appear unchanged in answers of the admin API.
  static let explicit = MessageContext(ownerNaming: .explicit)
}

// MARK: Frequent shapes

/// A page of a list.
struct AdminPage<Element> {
  var elements: [Element] = []
  /// The argument `continuation` for the next page; nil on the last page.
  var continuation: String?
}

extension AnswerShape {
  /// Returns the shape of a complete list: an object with one array.
  static func list<Element>(
    _ name: String, of element: AnswerShape<Element>
  ) -> AnswerShape where Value == [Element] {
    AnswerShape { $0.list(name, of: element) { $0 } }
  }

  /// Returns the shape of a page: an object with an array and an optional `continuation`.
  static func page<Element>(
    _ name: String, of element: AnswerShape<Element>
  ) -> AnswerShape where Value == AdminPage<Element> {
    AnswerShape { page in
      page.list(name, of: element) { $0.elements }
      page.optional("continuation") { $0.continuation }
    }
  }

  static func member(_ name: String) -> AnswerShape where Value: MessagePart & Sendable {
    AnswerShape { $0.member(name) { $0 } }
  }
}

// MARK: Values that several shapes have

extension JSONSchema {
  static let databaseScope = word(DatabaseScope.allCases.map(\.pathComponent))
}

extension ContainerPlace {
  static let shape = AnswerShape<ContainerPlace> { place in
    place.member("container") { $0.container }
    place.member("environment") { $0.environment }
  }
}
