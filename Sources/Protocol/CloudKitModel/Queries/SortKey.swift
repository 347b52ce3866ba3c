/// One criterion of a query's order.
public struct SortKey: Sendable, Hashable {
  /// The field to sort by. ``Query/validate()`` refuses ``FieldKey/allText``.
  public var key: FieldKey
  /// Whether small values, or near places, come first.
  public var ascending: Bool
  /// The place from which distances are measured. With a place, records are sorted by the distance
  /// from the place to the location in the field. With nil, they are sorted by the field's value.
  public var relativeLocation: Location?

  /// Creates a criterion.
  public init(_ key: FieldKey, ascending: Bool = true, relativeLocation: Location? = nil) {
    self.key = key
    self.ascending = ascending
    self.relativeLocation = relativeLocation
  }
}
