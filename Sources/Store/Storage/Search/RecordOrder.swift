import CloudKitModel

/// The order of a sorted query: by its sort keys from first to last, then by record number.
///
/// - Records without a value for a key come after the others in either direction. A NaN counts as
///   no value.
/// - Record numbers of equal records have the direction of the last key.
/// - A key with a place sorts by the distance from it.
struct RecordOrder {
  /// The sort keys of the query; empty for the order of record numbers.
  var sortKeys: [SortKey]

  /// A record's place in the order.
  struct Place: Equatable {
    /// The values by which the record is sorted, one for each sort key. The value of a sort by
    /// distance is the distance in metres.
    var values: [RecordValue?]
    /// The number of the record.
    var number: Int64
  }

  /// Returns the place of a record.
  func place(of record: Record, number: Int64) -> Place {
    Place(values: sortKeys.map { Self.value(of: record, for: $0) }, number: number)
  }

  /// Returns the value by which a record is sorted; nil if it has none.
  static func value(of record: Record, for sortKey: SortKey) -> RecordValue? {
    guard let value = record.value(for: sortKey.key) else { return nil }
    if let center = sortKey.relativeLocation {
      guard case .location(let location) = value else { return nil }
      return .double(location.distance(to: center))
    }
    return value.order(to: value) == nil ? nil : value
  }

  /// Returns whether the left place comes before the right one.
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
