/// A search for records of one type that pass all filters.
public struct Query: Sendable, Hashable {
  public var recordType: String
  public var filters: [Filter]
  public var sortKeys: [SortKey]

  public init(recordType: String, filters: [Filter] = [], sortKeys: [SortKey] = []) {
    self.recordType = recordType
    self.filters = filters
    self.sortKeys = sortKeys
  }

  /// Whether `record` is of the type and passes every filter.
  public func matches(_ record: Record) -> Bool {
    record.recordType == recordType && filters.allSatisfy { $0.matches(record) }
  }

  /// Throws unless the type's name, each filter and each sort key are well formed.
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
