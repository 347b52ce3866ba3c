/// A JSON text as a tree of values (RFC 8259).
///
/// A number that is written without fraction and exponent and fits `Int64` is an ``int(_:)``. Any
/// other number is a ``double(_:)``. So `5.0` is a double: CloudKit distinguishes the field types
/// INT64 and DOUBLE.
public enum JSONValue: Sendable, Hashable {
  /// The value `null`.
  case null
  /// The value `true` or `false`.
  case bool(Bool)
  /// A whole number that fits `Int64`.
  case int(Int64)
  /// Any other number.
  case double(Double)
  /// A string, decoded.
  case string(String)
  /// An array with its elements in order.
  case array([JSONValue])
  /// An object. Its members have no order.
  case object([String: JSONValue])

  /// The kind of the value in words, such as `a number`, for error messages.
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

  /// The member of an object; `nil` if there is no such member or it is null, and for other kinds.
  public subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self, let value = members[key], value != .null else {
      return nil
    }
    return value
  }

  /// The string; `nil` for other kinds.
  public var string: String? {
    if case .string(let string) = self { return string }
    return nil
  }

  /// The elements of an array; `nil` for other kinds.
  public var array: [JSONValue]? {
    if case .array(let array) = self { return array }
    return nil
  }

  /// The members of an object; `nil` for other kinds.
  public var object: [String: JSONValue]? {
    if case .object(let object) = self { return object }
    return nil
  }

  /// The number as an integer; `nil` if the number is not whole or does not fit `Int64`, and for
  /// other kinds.
  public var int: Int64? {
    switch self {
    case .int(let int): int
    case .double(let double): Int64(whole: double)
    default: nil
    }
  }

  /// The number as a double; `nil` for other kinds.
  public var double: Double? {
    switch self {
    case .int(let int): Double(int)
    case .double(let double): double
    default: nil
    }
  }

  /// The value as a boolean; `nil` for other kinds. The whole numbers 0 and 1 count as booleans
  /// too, because the conversion of JSON in Foundation confuses them with booleans.
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
  /// Creates the integer that a double is equal to; `nil` if the double is not whole. JSON numbers
  /// with a point, an exponent or very many digits are doubles.
  ///
  /// The result is also `nil` from 2^53 on. Several integers are rounded to the same double there, so
  /// the text probably had another number.
  init?(whole double: Double) {
    guard abs(double) < 0x1p53 else { return nil }
    self.init(exactly: double)
  }
}
