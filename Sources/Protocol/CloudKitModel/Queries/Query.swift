/// A search for the records of one type that pass all filters.
public struct Query: Sendable, Hashable {
  /// The type of the records.
  public var recordType: String
  /// The conditions, all of which a record must pass. Without filters every record of the type
  /// passes.
  public var filters: [Filter]
  /// The criteria of the order, the most significant first. A subscription ignores the sort keys.
  public var sortKeys: [SortKey]

  /// Creates a query without checks; call ``validate()`` to check it.
  public init(recordType: String, filters: [Filter] = [], sortKeys: [SortKey] = []) {
    self.recordType = recordType
    self.filters = filters
    self.sortKeys = sortKeys
  }

  /// Returns whether `record` has the type and passes every filter.
  public func matches(_ record: Record) -> Bool {
    record.recordType == recordType && filters.allSatisfy { $0.matches(record) }
  }

  /// Checks the type's name, the number of filters, each filter and each sort key.
  ///
  /// - Throws: ``ModelError`` for the first mistake. More than ``ServiceLimits/filtersPerQuery``
  ///   filters give ``ModelError/Code/limitExceeded``.
  public func validate() throws(ModelError) {
    try Identifier.validateRecordType(recordType)
    guard filters.count <= ServiceLimits.filtersPerQuery else {
      throw ModelError(
        .limitExceeded, field: "filterBy",
        "the query has \(filters.count) filters; the limit is \(ServiceLimits.filtersPerQuery)",
        limit: ServiceLimits.filtersPerQuery)
    }
    for filter in filters { try filter.validate() }
    for sortKey in sortKeys {
      switch sortKey.key {
      case .field(let name): try Identifier.validateFieldName(name)
      case .system: break
      case .allText:
        throw ModelError(.invalidFilter, field: "sortBy", "a sort needs a field name")
      }
      try sortKey.relativeLocation?.validate(field: sortKey.key.description)
    }
  }
}
