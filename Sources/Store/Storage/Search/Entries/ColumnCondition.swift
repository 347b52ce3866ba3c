/// Whether records stand on a path of a field's values, as a column of the field's keys tells it.
struct ColumnCondition {
  /// What it takes to ask, in index entries that are read in their order.
  static let cost = 0.5
  /// What it takes to look through the column, for each number in it.
  private static let scanCost = 0.012
  /// And what for each that is found.
  private static let findCost = 0.1

  private let column: KeyColumn
  private let ranges: KeyRangeDirectory
  private let circle: AccessPath.Circle?

  /// - Parameter path: A path whose stretches are all of the column's field.
  init(_ path: AccessPath, _ column: KeyColumn) {
    self.column = column
    ranges = KeyRangeDirectory(path.stretches.compactMap(\.range.numbers))
    circle = path.circle
  }

  func isMet(by number: Int64) -> Bool {
    guard let key = column[number], ranges.contains(key) else { return false }
    // The circle's ranges hold more than it.
    return circle?.mayHold(key) ?? true
  }

  /// Visits the numbers of the records that stand on the path, in ascending order, and some more where
  /// it has a circle: those that its ranges hold.
  func visitAll(_ visit: (Int64) -> Void) {
    guard let envelope = ranges.envelope else { return }
    column.visitKeys(in: envelope) { number, key in
      if ranges.contains(key) { visit(number) }
    }
  }

  /// What it takes to visit so many, in index entries.
  func cost(ofVisiting members: Double) -> Double {
    Double(column.capacity) * Self.scanCost + members * Self.findCost
  }
}
