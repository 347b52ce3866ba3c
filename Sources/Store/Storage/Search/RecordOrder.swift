import CloudKitModel

/// The order of a query's results: by the sort keys from the first to the last, then by record
/// number.
///
/// - Records without a value for a sort key come after the others, in ascending and in descending
///   order. A NaN counts as no value.
/// - Records that are equal in all sort keys come in the order of their numbers. The order of the
///   numbers is descending if the last sort key is.
/// - A sort key with a location sorts by the distance from that location.
struct RecordOrder {
  /// The sort keys; none for the order of record numbers.
  var sortKeys: [SortKey]

  /// The place of a record in the order.
  struct Place: Equatable {
    /// One for each sort key; nil for a missing value. For a sort by distance, metres.
    var values: [RecordValue?]
    var number: Int64
  }

  func place(of record: Record, number: Int64) -> Place {
    Place(values: sortKeys.map { Self.value(of: record, for: $0) }, number: number)
  }

  /// Returns nil if the record has no value.
  static func value(of record: Record, for sortKey: SortKey) -> RecordValue? {
    guard let value = record.value(for: sortKey.key) else { return nil }
    if let center = sortKey.relativeLocation {
      guard case .location(let location) = value else { return nil }
      return .double(location.distance(to: center))
    }
    return value.order(to: value) == nil ? nil : value
  }

  func precedes(_ left: Place, _ right: Place) -> Bool {
    for (index, sortKey) in sortKeys.enumerated() {
      switch (left.values[index], right.values[index]) {
      case (nil, nil): continue
      case (_, nil): return true
      case (nil, _): return false
      case (let leftValue?, let rightValue?):
        switch leftValue.order(to: rightValue) {
        case .less: return sortKey.ascending
        case .greater: return !sortKey.ascending
        case .equal, nil: continue
        }
      }
    }
    let ascending = sortKeys.last?.ascending ?? true
    return ascending ? left.number < right.number : left.number > right.number
  }
}
