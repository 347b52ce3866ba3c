/// A test whether records are on a path (``AccessPath``) through the values of one field. The test
/// uses the cached column of the field (``KeyColumn``), and reads nothing from the store.
struct ColumnCondition {
  /// The cost of one test, in index entries: the time to read one entry of the index in order.
  static let cost = 0.5
  /// The cost of scanning the column, in index entries for each record number that the column has
  /// memory for.
  private static let scanCost = 0.012
  /// The additional cost for each record that a scan finds, in index entries.
  private static let findCost = 0.1

  /// The keys of the field, by record numbers.
  private let column: KeyColumn
  /// The ranges of the path.
  private let ranges: KeyRangeDirectory
  /// The circle of the path; nil if it has none.
  private let circle: AccessPath.Circle?

  /// Creates the condition of a path.
  ///
  /// - Parameters:
  ///   - path: a path through the values of the column's field.
  ///   - column: the cached column of that field.
  init(_ path: AccessPath, _ column: KeyColumn) {
    self.column = column
    ranges = KeyRangeDirectory(path.stretches.compactMap(\.range.numbers))
    circle = path.circle
  }

  /// Returns whether a record is on the path. The result is false for a record without a value.
  func isMet(by number: Int64) -> Bool {
    guard let key = column[number], ranges.contains(key) else { return false }
    // The ranges for a circle also contain places outside of the circle.
    return circle?.mayHold(key) ?? true
  }

  /// Visits the numbers of the records on the path, in ascending order. On a path with a circle,
  /// the method also visits records outside of the circle whose keys are in the ranges.
  func visitAll(_ visit: (Int64) -> Void) {
    guard let envelope = ranges.envelope else { return }
    column.visitKeys(in: envelope) { number, key in
      if ranges.contains(key) { visit(number) }
    }
  }

  /// Returns the cost of ``visitAll(_:)`` in index entries, if it finds `members` records.
  func cost(ofVisiting members: Double) -> Double {
    Double(column.capacity) * Self.scanCost + members * Self.findCost
  }
}
