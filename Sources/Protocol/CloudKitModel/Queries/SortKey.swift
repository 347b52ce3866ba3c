/// One criterion of a query's order.
public struct SortKey: Sendable, Hashable {
  /// The field to sort by. ``FieldKey/allText`` is refused by ``Query/validate()``.
  public var key: FieldKey
  /// Whether small values, or near places, come first.
  public var ascending: Bool
  /// The place from which distances are measured. When it is set, records are ordered by the
  /// distance of their location; nil orders by the values themselves.
  public var relativeLocation: Location?

  /// Creates a criterion.
  public init(_ key: FieldKey, ascending: Bool = true, relativeLocation: Location? = nil) {
    self.key = key
    self.ascending = ascending
    self.relativeLocation = relativeLocation
  }
}
