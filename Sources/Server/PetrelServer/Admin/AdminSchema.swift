import JSONCoding

/// The shape of a JSON value, as JSON Schema (2020-12) has it.
struct AdminSchema: Sendable {
  let json: JSONValue
  /// The shapes with names that it refers to, itself among them.
  private(set) var named: [String: JSONValue] = [:]

  init(_ json: JSONValue, _ parts: [AdminSchema] = []) {
    self.json = json
    for part in parts { named.merge(part.named) { $1 } }
  }

  static let anything = AdminSchema(true)
  static let text = AdminSchema(["type": "string"])
  static let bool = AdminSchema(["type": "boolean"])
  static let number = AdminSchema(["type": "number"])
  static let count = AdminSchema(["type": "integer", "minimum": 0])
  /// Milliseconds since 1970.
  static let time = AdminSchema(["type": "integer", "description": "milliseconds since 1970"])

  static func integer(_ range: ClosedRange<Int>) -> AdminSchema {
    AdminSchema([
      "type": "integer", "minimum": .int(Int64(range.lowerBound)),
      "maximum": .int(Int64(range.upperBound)),
    ])
  }

  static func word(_ words: [String]) -> AdminSchema {
    AdminSchema(["type": "string", "enum": .array(words.map { .string($0) })])
  }

  static func list(_ element: AdminSchema) -> AdminSchema {
    AdminSchema(["type": "array", "items": element.json], [element])
  }

  /// An object whose members have names of others' choice.
  static func map(_ value: AdminSchema) -> AdminSchema {
    AdminSchema(["type": "object", "additionalProperties": value.json], [value])
  }

  /// An object with these members and no others; a `?` behind a name marks one that may be missing.
  static func object(_ members: [String: AdminSchema]) -> AdminSchema {
    var properties: [String: JSONValue] = [:]
    var required: [JSONValue] = []
    for (name, schema) in members.sorted(by: { $0.key < $1.key }) {
      let isOptional = name.hasSuffix("?")
      let name = isOptional ? String(name.dropLast()) : name
      properties[name] = schema.json
      if !isOptional { required.append(.string(name)) }
    }
    return AdminSchema(
      [
        "type": "object", "properties": .object(properties), "required": .array(required),
        "additionalProperties": false,
      ], Array(members.values))
  }

  /// What CloudKit Web Services says of it; docs/openapi.yaml has it in full.
  static func protocolForm(_ what: String) -> AdminSchema {
    AdminSchema([
      "type": "object", "description": .string("\(what) in the form of CloudKit Web Services"),
    ])
  }

  /// This or null.
  var orNull: AdminSchema {
    AdminSchema(["anyOf": [json, ["type": "null"]]], [self])
  }

  /// A reference to this shape, which the description has under a name.
  func named(_ name: String) -> AdminSchema {
    var reference = AdminSchema(["$ref": .string("#/components/schemas/\(name)")], [self])
    reference.named[name] = json
    return reference
  }
}
