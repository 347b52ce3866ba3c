/// Whether records stand on a path of a field's values, as a column of the field's keys tells it.
struct ColumnCondition {
  /// What it takes to ask, in index entries that are read in their order.
  static let cost = 0.5

  private let column: KeyColumn
  /// In order and apart.
  private let ranges: [ClosedRange<UInt64>]
  private let circle: AccessPath.Circle?

  /// - Parameter path: A path whose stretches are all of the column's field.
  init(_ path: AccessPath, _ column: KeyColumn) {
    self.column = column
    ranges = path.stretches.compactMap(\.range.numbers)
    circle = path.circle
  }

  func isMet(by number: Int64) -> Bool {
    guard let key = column[number] else { return false }
    // The circle's own ranges hold more than it.
    if let circle { return circle.mayHold(key) }
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < key { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].contains(key)
  }
}
