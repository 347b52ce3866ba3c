/// Tests whether records are on a path of a field's values, by a cached column of the field's keys.
struct ColumnCondition {
  /// The cost of one test, in index entries read in order.
  static let cost = 0.5
  /// The cost of scanning the column, for each number in it.
  private static let scanCost = 0.012
  /// The additional cost for each match.
  private static let findCost = 0.1

  private let column: KeyColumn
  private let ranges: KeyRangeDirectory
  private let circle: AccessPath.Circle?

  /// - Parameter path: a path whose ranges are all of the column's field.
  init(_ path: AccessPath, _ column: KeyColumn) {
    self.column = column
    ranges = KeyRangeDirectory(path.stretches.compactMap(\.range.numbers))
    circle = path.circle
  }

  func isMet(by number: Int64) -> Bool {
    guard let key = column[number], ranges.contains(key) else { return false }
    // The ranges of a circle contain places outside of it.
    return circle?.mayHold(key) ?? true
  }

  /// Visits the numbers of the records on the path, in ascending order. For a circle, also of the
  /// other records in its ranges.
  func visitAll(_ visit: (Int64) -> Void) {
    guard let envelope = ranges.envelope else { return }
    column.visitKeys(in: envelope) { number, key in
      if ranges.contains(key) { visit(number) }
    }
  }

  /// The cost of visiting `members` records, in index entries.
  func cost(ofVisiting members: Double) -> Double {
    Double(column.capacity) * Self.scanCost + members * Self.findCost
  }
}
