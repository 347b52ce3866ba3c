import CloudKitModel
import Foundation
import JSONCoding

/// The field value of Apple's reference: `{ "value": "Milk", "type": "STRING" }`.
extension RecordValue {
  private static let description = """
    Without `type` the JSON value decides the type: STRING, INT64 for a whole number or a boolean, DOUBLE, and \
    LOCATION, REFERENCE or ASSETID by the members of an object. In a record an empty object means null; in a \
    filter it is an error. Only an empty list may have the type UNKNOWN_LIST.
    """

  /// The description of the member with the rest of an exact date.
  private static let fractionDescription =
    "The seconds from `value` to the exact date of an encrypted field, at most 0.001; for a list of "
    + "dates, a number for each."

  private static func fraction(_ type: FieldType) -> [String: JSONSchema] {
    guard type.element == .timestamp else { return [:] }
    let number = type.isList ? JSONSchema.list(.number) : .number
    return ["fraction?": number.described(fractionDescription)]
  }

  static func schema(in scope: SchemaScope) -> JSONSchema {
    scope.named("FieldValue") { scope in
      let structured = [
        Reference.schema(in: scope), Location.schema(in: scope), Asset.schema(in: scope),
      ]
      switch scope.direction {
      case .requests:
        let single = JSONSchema(["type": ["null", "string", "number", "boolean"]])
        let list = JSONSchema.list(
          .any(of: [JSONSchema(["type": ["string", "number"]])] + structured))
        return .any(of: [
          JSONSchema(["type": "object", "maxProperties": 0]),
          .object(
            [
              "value": .any(of: [single, list] + structured),
              "type?": .word(FieldType.names + [unknownList]),
              "isEncrypted?": JSONSchema.bool.described(
                "Marks the field as encrypted. The server can still read it."),
              "fraction?": .any(of: [.number, .list(.number)]).described(fractionDescription),
            ], isOpen: true),
        ]).described(description)
      case .answers:
        func shape(_ type: FieldType, _ value: JSONSchema) -> JSONSchema {
          .object(
            [
              "value": value, "type": .constant(.string(type.name)),
              "isEncrypted?": .constant(.bool(true)),
            ].merging(fraction(type)) { $1 })
        }
        return .any(
          of: ValueType.allCases.flatMap { element in
            let value = schema(of: element, in: scope)
            return [
              shape(FieldType(element), value), shape(.list(of: element), .list(value)),
            ]
          })
      }
    }
  }

  static func filterSchema(in scope: SchemaScope) -> JSONSchema {
    switch scope.direction {
    case .requests:
      JSONSchema.all(of: [schema(in: scope)]).described(
        """
        A list has at most \(ServiceLimits.valuesPerFilter) values. The text of a search for tokens has at \
        most \(ServiceLimits.wordsPerFilter) different words.
        """)
    case .answers: .any(of: [schema(in: scope), .object(["value": .null])])
    }
  }

  /// The schema of one value in an answer. Numbers are strings when the request asks for strings.
  private static func schema(of element: ValueType, in scope: SchemaScope) -> JSONSchema {
    switch element {
    case .string: .text
    case .int64: JSONSchema(["type": ["integer", "string"]])
    case .double: JSONSchema(["type": ["number", "string"]])
    case .timestamp: .integer
    case .bytes: JSONSchema.text.with(["contentEncoding": "base64"])
    case .location: Location.schema(in: scope)
    case .reference: Reference.schema(in: scope)
    case .asset: Asset.schema(in: scope)
    }
  }

  /// Reads `{ "value": …, "type": … }`.
  ///
  /// Without a type the JSON decides: strings, whole numbers and booleans (INT64), other numbers
  /// (DOUBLE), and objects by their members. A whole number beyond 64 bits needs a type. The first element decides the type of a list; a list
  /// that begins with a number and has a DOUBLE among its elements is a DOUBLE_LIST.
  ///
  /// - Returns: nil when the value is null, and for an empty object. OpenCloudKit sends an empty
  ///   object to remove a field.
  /// - Throws: `BAD_REQUEST` for a value that does not fit its type. An object with other members
  ///   but without `value` is refused too, because a misspelt member must not remove a field.
  static func read(_ reader: MessageReader) throws(ServiceError) -> RecordValue? {
    guard let valueReader = try reader.optional("value") else {
      let node = reader.node
      guard node.isObject, node.count == 0 || node.member("value")?.isNull == true else {
        throw reader.mistake("'value' is missing")
      }
      return nil
    }
    guard let typeName = try reader.optionalString("type") else {
      return try inferred(valueReader)
    }
    if typeName == unknownList {
      guard valueReader.node.isArray, valueReader.node.count == 0 else {
        throw valueReader.mistake("must be an empty list: its type is \(unknownList)")
      }
      return try inferred(valueReader)
    }
    guard let type = FieldType(name: typeName) else {
      throw reader.mistake("unknown field type '\(typeName)'")
    }
    let value = try typed(valueReader, type)
    guard type.element == .timestamp, let fraction = try reader.optional("fraction") else {
      return value
    }
    return try value.adding(fraction)
  }

  /// Returns a date, or a list of dates, with the parts beyond the whole milliseconds.
  private func adding(_ fraction: MessageReader) throws(ServiceError) -> RecordValue {
    switch self {
    case .timestamp(let timestamp):
      guard let seconds = fraction.node.double else {
        throw fraction.mistake("must be a number of seconds")
      }
      return seconds == 0
        ? self : .preciseTimestamp(PreciseTimestamp(timestamp: timestamp, remainder: seconds))
    case .list(let element, let values):
      let fractions = fraction.node.isArray ? try fraction.elements() : []
      guard fractions.count == values.count else {
        throw fraction.mistake("must be a list with a number for each date")
      }
      var precise: [RecordValue] = []
      for (value, fraction) in zip(values, fractions) { precise.append(try value.adding(fraction)) }
      return .list(of: element, precise)
    case .string, .int64, .double, .preciseTimestamp, .bytes, .location, .reference, .asset:
      return self
    }
  }

  /// The seconds beyond the whole millisecond.
  private var fraction: Double {
    if case .preciseTimestamp(let precise) = self { precise.remainder } else { 0 }
  }

  /// Writes `{ "value": …, "type": … }`, and `"isEncrypted": true` for an encrypted field. A date that is
  /// not a whole millisecond also has `"fraction"`: the seconds beyond the value.
  func write(
    to writer: inout JSONWriter, context: MessageContext, isEncrypted: Bool = false
  ) {
    writer.object { writer in
      writer.key("value")
      writeBare(to: &writer, context: context)
      writer.member("type", type.name)
      if isPrecise {
        writer.key("fraction")
        if case .list(_, let values) = self {
          writer.array { writer in
            for value in values { writer.value(value.fraction) }
          }
        } else {
          writer.value(fraction)
        }
      }
      if isEncrypted { writer.member("isEncrypted", true) }
    }
  }

  /// Writes `{ "value": null }`, which removes a field.
  static func writeRemoval(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.key("value")
      writer.null()
    }
  }

  // MARK: Reading

  /// The type that Apple's service was seen to return for empty lists.
  private static let unknownList = "UNKNOWN_LIST"

  private static func inferred(_ reader: MessageReader) throws(ServiceError) -> RecordValue {
    let node = reader.node
    if let string = node.string { return .string(string) }
    if node.isWhole, let int = node.int { return .int64(int) }
    try checkFitsInt64(reader)
    if let double = node.double { return .double(double) }
    if let bool = node.bool { return .int64(bool ? 1 : 0) }
    if node.isArray {
      let elements = try reader.elements()
      // If the store knows the field, the store replaces this type by the field's type.
      guard let first = elements.first else { return .list(of: .string, []) }
      guard !first.node.isArray else { throw first.mistake("lists cannot hold lists") }
      for element in elements { try checkFitsInt64(element) }
      var element = try inferred(first).type.element
      if element == .int64,
        elements.contains(where: { $0.node.double != nil && !$0.node.isWhole })
      {
        element = .double
      }
      return try typed(reader, .list(of: element))
    }
    if node.isNull { throw reader.mistake("must not be null in a list") }
    if node.member("latitude") != nil { return try typed(reader, FieldType(.location)) }
    if node.member("recordName") != nil { return try typed(reader, FieldType(.reference)) }
    if node.member("fileChecksum") != nil { return try typed(reader, FieldType(.asset)) }
    try checkUpload(reader)
    throw reader.mistake("is neither a location, a reference nor an asset")
  }

  /// Checks that a number without a type is no whole number beyond 64 bits: it would be a DOUBLE
  /// with another value.
  private static func checkFitsInt64(_ reader: MessageReader) throws(ServiceError) {
    guard reader.node.isWholeBeyond64Bits else { return }
    throw reader.mistake(
      "is a whole number beyond 64 bits; give the field the type DOUBLE if the nearest double will do"
    )
  }

  private static func typed(
    _ reader: MessageReader, _ type: FieldType
  ) throws(ServiceError) -> RecordValue {
    guard type.isList else { return try single(reader, type.element) }
    guard reader.node.isArray else { throw mismatch(reader, type) }
    var values: [RecordValue] = []
    for element in try reader.elements() { values.append(try single(element, type.element)) }
    return .list(of: type.element, values)
  }

  /// Returns a single value of a given type. INT64 and DOUBLE also accept a string with a number,
  /// and INT64 also accepts a boolean.
  private static func single(
    _ reader: MessageReader, _ element: ValueType
  ) throws(ServiceError) -> RecordValue {
    let type = FieldType(element)
    let node = reader.node
    switch element {
    case .string:
      guard let string = node.string else { throw mismatch(reader, type) }
      return .string(string)
    case .int64:
      if node.isBool, let bool = node.bool { return .int64(bool ? 1 : 0) }
      guard let int = node.int ?? node.string.flatMap({ Int64($0) }) else {
        throw mismatch(reader, type)
      }
      return .int64(int)
    case .double:
      guard let double = node.double ?? node.string.flatMap({ Double($0) }) else {
        throw mismatch(reader, type)
      }
      return .double(double)
    case .timestamp:
      guard let milliseconds = node.int else { throw mismatch(reader, type) }
      return .timestamp(Timestamp(milliseconds: milliseconds))
    case .bytes:
      guard let text = node.string else { throw mismatch(reader, type) }
      guard let data = Data(base64Encoded: text) else {
        throw mismatch(reader, type, found: "a string that is not base64")
      }
      return .bytes(data)
    case .location:
      return .location(try Location(reader))
    case .reference:
      return .reference(try Reference(reader))
    case .asset:
      try checkUpload(reader)
      return .asset(try Asset(reader))
    }
  }

  private static func checkUpload(_ reader: MessageReader) throws(ServiceError) {
    guard let error = ServiceError(reader) else { return }
    throw reader.mistake("the file was not uploaded (\(error))")
  }

  /// Returns the error for a value that does not have the expected type. After the place in the
  /// message, the reason begins with the words of Apple's service.
  private static func mismatch(
    _ reader: MessageReader, _ type: FieldType, found: String? = nil
  ) -> ServiceError {
    reader.mistake("Invalid value, expected type \(type), found \(found ?? reader.preciseKind)")
  }

  // MARK: Writing

  private func writeBare(to writer: inout JSONWriter, context: MessageContext) {
    switch self {
    case .string(let string): writer.value(string)
    case .int64(let int):
      context.numbersAsStrings ? writer.value(String(int)) : writer.value(int)
    case .double(let double):
      // JSON has no NaN and no infinities; strings can represent them.
      context.numbersAsStrings || !double.isFinite
        ? writer.value(double.description) : writer.value(double)
    case .timestamp(let timestamp): writer.value(timestamp.milliseconds)
    case .preciseTimestamp(let precise): writer.value(precise.timestamp.milliseconds)
    case .bytes(let data): writer.value(data.base64EncodedString())
    case .location(let location): location.write(to: &writer, context: context)
    case .reference(let reference): reference.write(to: &writer, context: context)
    case .asset(let asset): asset.write(to: &writer, context: context)
    case .list(_, let values):
      writer.array { writer in
        for value in values { value.writeBare(to: &writer, context: context) }
      }
    }
  }
}
