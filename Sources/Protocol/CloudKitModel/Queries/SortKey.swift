/// One criterion of a query's order.
public struct SortKey: Sendable, Hashable {
  public var key: FieldKey
  public var ascending: Bool
  /// When set, records are ordered by their distance from this place.
  public var relativeLocation: Location?

  public init(_ key: FieldKey, ascending: Bool = true, relativeLocation: Location? = nil) {
    self.key = key
    self.ascending = ascending
    self.relativeLocation = relativeLocation
  }
}
