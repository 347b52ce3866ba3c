extension RecordValue {
  /// The reference of a reference value, or those of a list; empty for other values.
  public var references: [Reference] {
    switch self {
    case .reference(let reference): [reference]
    case .list(.reference, let elements): elements.flatMap(\.references)
    case .string, .int64, .double, .timestamp, .preciseTimestamp, .bytes, .location, .asset, .list:
      []
    }
  }

  /// Returns the value with each reference replaced by the result of `transform`. A value without
  /// references stays as it is.
  public func mapReferences(_ transform: (Reference) -> Reference) -> RecordValue {
    switch self {
    case .reference(let reference): .reference(transform(reference))
    case .list(.reference, let elements):
      .list(of: .reference, elements.map { $0.mapReferences(transform) })
    case .string, .int64, .double, .timestamp, .preciseTimestamp, .bytes, .location, .asset, .list:
      self
    }
  }
}
