/// The type of a single value. The raw values are the web-services names.
public enum ValueType: String, Sendable, Hashable, CaseIterable {
  case string = "STRING"
  case int64 = "INT64"
  case double = "DOUBLE"
  case timestamp = "TIMESTAMP"
  case bytes = "BYTES"
  case location = "LOCATION"
  case reference = "REFERENCE"
  case asset = "ASSETID"

  /// Whether the type is one of the two number types. Values of these two types can be compared
  /// with each other.
  public var isNumber: Bool { self == .int64 || self == .double }

  /// Whether values of the type have an order that filters and sorts can use.
  public var isOrdered: Bool { isNumber || self == .string || self == .timestamp }
}

/// The type of a field: a single value or a list of values.
public struct FieldType: Sendable, Hashable, CustomStringConvertible {
  /// The type of the value, or of the list's elements.
  public var element: ValueType
  /// Whether the field contains a list.
  public var isList: Bool

  /// Creates the type of a single value or of a list.
  public init(_ element: ValueType, isList: Bool = false) {
    self.element = element
    self.isList = isList
  }

  /// Returns the type of a list with these elements.
  public static func list(of element: ValueType) -> FieldType {
    FieldType(element, isList: true)
  }

  /// The web-services name, such as `STRING` or `INT64_LIST`.
  public var name: String { isList ? element.rawValue + "_LIST" : element.rawValue }

  /// Creates the type with this web-services name; nil for an unknown name.
  ///
  /// `ASSET` is accepted for `ASSETID`. `NUMBER_INT64` and `NUMBER_DOUBLE` of early clients are
  /// accepted for `INT64` and `DOUBLE`. Each of these names is also accepted with `_LIST` at the
  /// end.
  public init?(name: String) {
    guard let type = Self.byName[name] else { return nil }
    self = type
  }

  private static let byName: [String: FieldType] = {
    var types: [String: FieldType] = [:]
    for element in ValueType.allCases {
      types[FieldType(element).name] = FieldType(element)
      types[FieldType.list(of: element).name] = .list(of: element)
    }
    for (name, element) in [
      ("ASSET", ValueType.asset), ("NUMBER_INT64", .int64), ("NUMBER_DOUBLE", .double),
    ] {
      types[name] = FieldType(element)
      types[name + "_LIST"] = .list(of: element)
    }
    return types
  }()

  /// All names that ``init(name:)`` accepts, in alphabetical order.
  public static var names: [String] { byName.keys.sorted() }

  public var description: String { name }
}
