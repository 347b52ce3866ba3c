/// The shape of a JSON value, as JSON Schema (2020-12) and OpenAPI 3.1 write it.
///
/// ```swift
/// let place = JSONSchema.object(["latitude": .number, "longitude": .number]).named("Place")
/// let answer = JSONSchema.object(["places": .list(place), "continuation?": .text])
/// ```
public struct JSONSchema: Sendable {
  public let json: JSONValue
  /// The shapes with names that it refers to, itself among them.
  public private(set) var named: [String: JSONValue] = [:]

  /// - Parameter parts: the shapes that `json` was made of.
  public init(_ json: JSONValue, _ parts: [JSONSchema] = []) {
    self.json = json
    for part in parts {
      named.merge(part.named) { old, new in
        assert(old == new, "a name stands for two shapes: \(old.text), \(new.text)")
        return new
      }
    }
  }

  public static let anything = JSONSchema(true)
  public static let text = JSONSchema(["type": "string"])
  public static let bool = JSONSchema(["type": "boolean"])
  public static let number = JSONSchema(["type": "number"])
  public static let integer = JSONSchema(["type": "integer"])
  public static let count = JSONSchema(["type": "integer", "minimum": 0])
  public static let null = JSONSchema(["type": "null"])
  /// Milliseconds since 1970.
  public static let time = JSONSchema([
    "type": "integer", "description": "milliseconds since 1970",
  ])

  public static func integer(_ range: ClosedRange<Int>) -> JSONSchema {
    JSONSchema([
      "type": "integer", "minimum": .int(Int64(range.lowerBound)),
      "maximum": .int(Int64(range.upperBound)),
    ])
  }

  /// One of some texts.
  public static func word(_ words: [String]) -> JSONSchema {
    JSONSchema(["type": "string", "enum": .array(words.map { .string($0) })])
  }

  /// This value and no other.
  public static func constant(_ value: JSONValue) -> JSONSchema {
    JSONSchema(["const": value])
  }

  /// - Parameter count: how many elements there may be; nil for any number.
  public static func list(_ element: JSONSchema, count: ClosedRange<Int>? = nil) -> JSONSchema {
    var json: [String: JSONValue] = ["type": "array", "items": element.json]
    if let count {
      if count.lowerBound > 0 { json["minItems"] = .int(Int64(count.lowerBound)) }
      json["maxItems"] = .int(Int64(count.upperBound))
    }
    return JSONSchema(.object(json), [element])
  }

  /// An object whose members have names of others' choice.
  public static func map(_ value: JSONSchema) -> JSONSchema {
    JSONSchema(["type": "object", "additionalProperties": value.json], [value])
  }

  /// An object with these members; a `?` behind a name marks one that may be missing.
  ///
  /// - Parameter isOpen: whether it may have others.
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

  /// A value of one of these shapes.
  public static func any(of shapes: [JSONSchema]) -> JSONSchema {
    JSONSchema(["anyOf": .array(shapes.map(\.json))], shapes)
  }

  /// A value of all of these shapes.
  public static func all(of shapes: [JSONSchema]) -> JSONSchema {
    JSONSchema(["allOf": .array(shapes.map(\.json))], shapes)
  }

  /// This or null.
  public var orNull: JSONSchema { .any(of: [self, .null]) }

  /// The shape with further keywords, which replace its own.
  public func with(_ keywords: [String: JSONValue]) -> JSONSchema {
    var schema = self
    schema = JSONSchema(.object((json.object ?? [:]).merging(keywords) { $1 }))
    schema.named = named
    return schema
  }

  /// The shape with a sentence about it; without a text the shape itself.
  public func described(_ text: String?) -> JSONSchema {
    text.map { with(["description": .string($0)]) } ?? self
  }

  /// A reference to a shape that the description has under a name.
  public static func reference(to name: String) -> JSONSchema {
    JSONSchema(["$ref": .string("#/components/schemas/\(name)")])
  }

  /// A reference to this shape, which the description has under a name.
  public func named(_ name: String) -> JSONSchema {
    var reference = JSONSchema.reference(to: name)
    reference.named = named
    reference.named[name] = json
    return reference
  }
}
