/// A description of the structure of JSON values (their shape), in JSON Schema 2020-12 as OpenAPI
/// 3.1 uses it.
///
/// ```swift
/// let place = JSONSchema.object(["latitude": .number, "longitude": .number]).named("Place")
/// let answer = JSONSchema.object(["places": .list(place), "continuation?": .text])
/// ```
public struct JSONSchema: Sendable {
  /// The schema as JSON.
  public let json: JSONValue
  /// The named shapes to which the schema refers, directly or through other schemas. The key is the
  /// name, the value the shape's schema.
  public private(set) var named: [String: JSONValue] = [:]

  /// Creates a schema from its JSON.
  ///
  /// - Parameter parts: the schemas that `json` contains. Their named shapes become those of the
  ///   new schema. Two different shapes must not have the same name.
  public init(_ json: JSONValue, _ parts: [JSONSchema] = []) {
    self.json = json
    for part in parts {
      named.merge(part.named) { old, new in
        assert(old == new, "two schemas have the same name: \(old.text), \(new.text)")
        return new
      }
    }
  }

  /// Any value.
  public static let anything = JSONSchema(true)
  /// A string.
  public static let text = JSONSchema(["type": "string"])
  /// A boolean.
  public static let bool = JSONSchema(["type": "boolean"])
  /// A number, whole or not.
  public static let number = JSONSchema(["type": "number"])
  /// A whole number.
  public static let integer = JSONSchema(["type": "integer"])
  /// A whole number that is 0 or greater.
  public static let count = JSONSchema(["type": "integer", "minimum": 0])
  /// The value null.
  public static let null = JSONSchema(["type": "null"])
  /// A time as a whole number of milliseconds since the beginning of 1970 in UTC.
  public static let time = JSONSchema([
    "type": "integer", "description": "milliseconds since 1970",
  ])

  /// Returns the schema of a whole number in a range.
  public static func integer(_ range: ClosedRange<Int>) -> JSONSchema {
    JSONSchema([
      "type": "integer", "minimum": .int(Int64(range.lowerBound)),
      "maximum": .int(Int64(range.upperBound)),
    ])
  }

  /// Returns the schema of a string that is one of `words`.
  public static func word(_ words: [String]) -> JSONSchema {
    JSONSchema(["type": "string", "enum": .array(words.map { .string($0) })])
  }

  /// Returns the schema that allows this value only.
  public static func constant(_ value: JSONValue) -> JSONSchema {
    JSONSchema(["const": value])
  }

  /// Returns the schema of an array.
  ///
  /// - Parameter count: the allowed number of elements; `nil` for any number.
  public static func list(_ element: JSONSchema, count: ClosedRange<Int>? = nil) -> JSONSchema {
    var json: [String: JSONValue] = ["type": "array", "items": element.json]
    if let count {
      if count.lowerBound > 0 { json["minItems"] = .int(Int64(count.lowerBound)) }
      json["maxItems"] = .int(Int64(count.upperBound))
    }
    return JSONSchema(.object(json), [element])
  }

  /// Returns the schema of an object whose members may have any names. All their values have this
  /// shape.
  public static func map(_ value: JSONSchema) -> JSONSchema {
    JSONSchema(["type": "object", "additionalProperties": value.json], [value])
  }

  /// Returns the schema of an object with these members. A `?` after a name marks a member that may
  /// be missing.
  ///
  /// - Parameter isOpen: whether other members are allowed too.
  public static func object(
    _ members: [String: JSONSchema], isOpen: Bool = false
  ) -> JSONSchema {
    var properties: [String: JSONValue] = [:]
    var required: [String] = []
    for (name, schema) in members.sorted(by: { $0.key < $1.key }) {
      let isOptional = name.hasSuffix("?")
      let name = isOptional ? String(name.dropLast()) : name
      properties[name] = schema.json
      if !isOptional { required.append(name) }
    }
    var json: [String: JSONValue] = ["type": "object", "properties": .object(properties)]
    if !required.isEmpty || !isOpen { json["required"] = .array(required.map { .string($0) }) }
    if !isOpen { json["additionalProperties"] = false }
    return JSONSchema(.object(json), Array(members.values))
  }

  /// Returns the schema of a value that has one of these shapes.
  public static func any(of shapes: [JSONSchema]) -> JSONSchema {
    JSONSchema(["anyOf": .array(shapes.map(\.json))], shapes)
  }

  /// Returns the schema of a value that has all of these shapes.
  public static func all(of shapes: [JSONSchema]) -> JSONSchema {
    JSONSchema(["allOf": .array(shapes.map(\.json))], shapes)
  }

  /// The schema of a value of this shape or null.
  public var orNull: JSONSchema { .any(of: [self, .null]) }

  /// Returns the schema with further keywords of JSON Schema. They replace keywords of the same
  /// name.
  public func with(_ keywords: [String: JSONValue]) -> JSONSchema {
    var schema = self
    schema = JSONSchema(.object((json.object ?? [:]).merging(keywords) { $1 }))
    schema.named = named
    return schema
  }

  /// Returns the schema with a description; without a change if `text` is `nil`.
  public func described(_ text: String?) -> JSONSchema {
    text.map { with(["description": .string($0)]) } ?? self
  }

  /// Returns a reference to the shape that the OpenAPI description has under this name.
  public static func reference(to name: String) -> JSONSchema {
    JSONSchema(["$ref": .string("#/components/schemas/\(name)")])
  }

  /// Gives this shape a name, and returns a schema that refers to the name. The ``named`` shapes of
  /// the result contain this shape.
  public func named(_ name: String) -> JSONSchema {
    var reference = JSONSchema.reference(to: name)
    reference.named = named
    reference.named[name] = json
    return reference
  }
}
