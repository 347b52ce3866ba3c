import CloudKitModel
import Foundation
import JSONCoding

extension RecordValue {
  /// Reads `{ "value": …, "type": … }`; nil when the value is null or absent.
  ///
  /// Without a type it is taken from the JSON: strings, whole numbers (INT64), other numbers
  /// (DOUBLE), and objects by their keys.
  static func read(_ reader: MessageReader) throws(ServiceError) -> RecordValue? {
    guard let valueReader = try reader.optional("value") else { return nil }
    guard let typeName = try reader.optionalString("type") else {
      return try inferred(valueReader)
    }
    guard let type = FieldType(name: typeName) else {
      throw reader.mistake("unknown field type '\(typeName)'")
    }
    return try typed(valueReader, type)
  }

  /// Writes `{ "value": …, "type": … }`.
  func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      writer.key("value")
      writeBare(to: &writer, context: context)
      writer.member("type", type.name)
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

  private static func inferred(_ reader: MessageReader) throws(ServiceError) -> RecordValue {
    switch reader.json {
    case .string(let string): return .string(string)
    case .int(let int): return .int64(int)
    case .double(let double): return .double(double)
    case .bool(let bool): return .int64(bool ? 1 : 0)
    case .array:
      guard let first = try reader.elements().first else {
        throw reader.mistake("an empty list needs a 'type', such as STRING_LIST")
      }
      let type = try inferred(first).type
      guard !type.isList else { throw first.mistake("lists cannot hold lists") }
      return try typed(reader, .list(of: type.element))
    case .object(let members):
      if members["latitude"] != nil { return try typed(reader, FieldType(.location)) }
      if members["recordName"] != nil { return try typed(reader, FieldType(.reference)) }
      if members["fileChecksum"] != nil { return try typed(reader, FieldType(.asset)) }
      throw reader.mistake("is neither a location, a reference nor an asset")
    case .null:
      throw reader.mistake("must not be null in a list")
    }
  }

  private static func typed(
    _ reader: MessageReader, _ type: FieldType
  ) throws(ServiceError) -> RecordValue {
    guard type.isList else { return try single(reader, type.element) }
    guard case .array = reader.json else {
      throw reader.mistake("Invalid value, expected type \(type), found \(reader.json.kind)")
    }
    var values: [RecordValue] = []
    for element in try reader.elements() { values.append(try single(element, type.element)) }
    return .list(of: type.element, values)
  }

  private static func single(
    _ reader: MessageReader, _ type: ValueType
  ) throws(ServiceError) -> RecordValue {
    let mismatch = reader.mistake(
      "Invalid value, expected type \(type.rawValue), found \(reader.json.kind)")
    switch type {
    case .string:
      guard let string = reader.json.string else { throw mismatch }
      return .string(string)
    case .int64:
      if case .bool(let bool) = reader.json { return .int64(bool ? 1 : 0) }
      guard let int = reader.json.int ?? reader.json.string.flatMap({ Int64($0) }) else {
        throw mismatch
      }
      return .int64(int)
    case .double:
      guard let double = reader.json.double ?? reader.json.string.flatMap({ Double($0) }) else {
        throw mismatch
      }
      return .double(double)
    case .timestamp:
      guard case .int(let milliseconds) = reader.json else { throw mismatch }
      return .timestamp(Timestamp(milliseconds: milliseconds))
    case .bytes:
      guard let text = reader.json.string, let data = Data(base64Encoded: text) else {
        throw mismatch
      }
      return .bytes(data)
    case .location:
      return .location(try Location(reader))
    case .reference:
      return .reference(try Reference(reader))
    case .asset:
      return .asset(try Asset(reader))
    }
  }

  // MARK: Writing

  private func writeBare(to writer: inout JSONWriter, context: MessageContext) {
    switch self {
    case .string(let string): writer.value(string)
    case .int64(let int):
      context.numbersAsStrings ? writer.value(String(int)) : writer.value(int)
    case .double(let double):
      // JSON has no NaN and no infinities; as strings they survive.
      context.numbersAsStrings || !double.isFinite
        ? writer.value(double.description) : writer.value(double)
    case .timestamp(let timestamp): writer.value(timestamp.milliseconds)
    case .bytes(let data): writer.value(data.base64EncodedString())
    case .location(let location): location.write(to: &writer)
    case .reference(let reference): reference.write(to: &writer, context: context)
    case .asset(let asset): asset.write(to: &writer)
    case .list(_, let values):
      writer.array { writer in
        for value in values { value.writeBare(to: &writer, context: context) }
      }
    }
  }
}
