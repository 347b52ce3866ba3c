/// A JSON text as a value (RFC 8259).
///
/// Whole numbers that fit are ``int(_:)``, all other numbers ``double(_:)``; `5.0` is a double, so
/// that the difference between CloudKit's INT64 and DOUBLE survives.
public enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// The word for the kind of value, for error messages.
  public var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .int, .double: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  /// The member of an object; nil where there is none, where it is null, and for other kinds.
  public subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self, let value = members[key], value != .null else {
      return nil
    }
    return value
  }

  public var string: String? {
    if case .string(let string) = self { return string }
    return nil
  }

  public var array: [JSONValue]? {
    if case .array(let array) = self { return array }
    return nil
  }

  public var object: [String: JSONValue]? {
    if case .object(let object) = self { return object }
    return nil
  }

  /// The number as an integer, if it is whole.
  public var int: Int64? {
    switch self {
    case .int(let int): int
    case .double(let double): Int64(whole: double)
    default: nil
    }
  }

  /// The number as a double.
  public var double: Double? {
    switch self {
    case .int(let int): Double(int)
    case .double(let double): double
    default: nil
    }
  }

  /// The value as a boolean. The numbers 0 and 1 count: JSON bridges of Foundation mix them up.
  public var bool: Bool? {
    switch self {
    case .bool(let bool): bool
    case .int(0): false
    case .int(1): true
    default: nil
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .int(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
  }
}

extension Int64 {
  /// The integer that a number stands for which was too long to be read as one, or has a point; nil
  /// when it is not whole. Numbers a little below the least integer round to it as doubles: that one
  /// is never meant.
  init?(whole double: Double) {
    guard double > -0x1p63 else { return nil }
    self.init(exactly: double)
  }
}
