import Foundation

/// A text that is not JSON.
public struct JSONError: Error, Sendable, CustomStringConvertible {
  public var description: String
}

extension JSONValue {
  /// Parses a UTF-8 JSON text.
  ///
  /// - Throws: ``JSONError`` with what is wrong and, where the parser tells, the place.
  public init(parsing data: Data) throws(JSONError) {
    let parsed: Any
    do {
      parsed = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
    } catch {
      let detail = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
      throw JSONError(description: "not valid JSON: \(detail ?? "cannot be parsed")")
    }
    self.init(foundation: parsed)
  }

  /// Parses a JSON text.
  public init(parsing text: String) throws(JSONError) {
    try self.init(parsing: Data(text.utf8))
  }

  private init(foundation value: Any) {
    switch value {
    case let string as String:
      self = .string(string)
    case let number as NSNumber:
      self.init(number)
    case let array as [Any]:
      self = .array(array.map { JSONValue(foundation: $0) })
    case let object as [String: Any]:
      self = .object(object.mapValues { JSONValue(foundation: $0) })
    default:
      self = .null
    }
  }

  private init(_ number: NSNumber) {
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "c"), UInt8(ascii: "B"):
      self = .bool(number.boolValue)
    case UInt8(ascii: "d"), UInt8(ascii: "f"):
      self = .double(number.doubleValue)
    case UInt8(ascii: "Q") where number.uint64Value > UInt64(Int64.max):
      self = .double(number.doubleValue)
    default:
      self = .int(number.int64Value)
    }
  }
}
