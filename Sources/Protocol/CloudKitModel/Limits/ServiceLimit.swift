/// A limit as clients read it: `server/limits`, and `petrel limits`.
public struct ServiceLimit: Sendable, Hashable {
  /// What a limit counts.
  public enum Unit: String, Sendable, Hashable, CaseIterable {
    case bytes
    case characters
    case seconds
    case days
    /// Of what the limit's name says.
    case count
    case requestsPerSecond
  }

  /// Such as `recordSize`.
  public var name: String
  /// Exact up to 2⁵³.
  public var value: Double
  public var unit: Unit

  public init(_ name: String, _ value: Double, _ unit: Unit) {
    self.name = name
    self.value = value
    self.unit = unit
  }

  public init(_ name: String, _ value: Int, _ unit: Unit) {
    self.init(name, Double(value), unit)
  }
}
