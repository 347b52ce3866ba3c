import Foundation

/// A text that is not JSON.
public struct JSONError: Error, Sendable, CustomStringConvertible {
  public var description: String
}

extension JSONValue {
  /// Parses a UTF-8 JSON text.
  ///
  /// Beyond RFC 8259 it lets pass a byte order mark and a comma after the last element or member. Of
  /// members with the same name one is kept. A whole number beyond `Int64` becomes the nearest
  /// double.
  ///
  /// - Throws: ``JSONError`` with what is wrong and, where the parser tells, the place; also for
  ///   texts nested deeper than 512, and for numbers beyond the range of doubles.
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

  /// Asks for the exact type before each cast: a cast that fails looks for bridges first, which
  /// costs ten times what parsing does.
  private init(foundation value: Any) {
    let type = type(of: value)
    if type == String.self, let string = value as? String {
      self = .string(string)
    } else if type == [String: Any].self, let object = value as? [String: Any] {
      self = .object(object.mapValues { JSONValue(foundation: $0) })
    } else if type == [Any].self, let array = value as? [Any] {
      self = .array(array.map { JSONValue(foundation: $0) })
    } else if let number = value as? NSNumber {
      self.init(number)
    } else {
      self = .null
    }
  }

  private init(_ number: NSNumber) {
    // Numbers with many digits come as decimals, whose own conversion to a double is not exact.
    if let decimal = number as? NSDecimalNumber {
      self.init(digits: decimal.stringValue)
      return
    }
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

  /// Small whole numbers never come as decimals unless they had a fraction of zeros, and then they
  /// are doubles.
  private init(digits: String) {
    if let int = Int64(digits), int.magnitude >= 1_000_000_000_000_000_000 {
      self = .int(int)
    } else {
      self = Double(digits).map { .double($0) } ?? .null
    }
  }
}
