/// A limit with its name and unit, as `server/limits` and `petrel limits` show it.
public struct ServiceLimit: Sendable, Hashable {
  /// The unit of a limit. The answer of `server/limits` contains the raw values.
  public enum Unit: String, Sendable, Hashable, CaseIterable {
    case bytes
    case characters
    case seconds
    case days
    /// A number of items. The limit's name says which items, such as records.
    case count
    case requestsPerSecond
  }

  /// The name of the limit, such as `recordSize`.
  public var name: String
  /// The value in units of ``unit``. A `Double` represents whole numbers exactly up to 2⁵³.
  public var value: Double
  /// The unit of ``value``.
  public var unit: Unit

  /// Creates a limit.
  public init(_ name: String, _ value: Double, _ unit: Unit) {
    self.name = name
    self.value = value
    self.unit = unit
  }

  /// Creates a limit from a whole number.
  public init(_ name: String, _ value: Int, _ unit: Unit) {
    self.init(name, Double(value), unit)
  }
}
