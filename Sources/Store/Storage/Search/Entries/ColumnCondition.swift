/// A test whether records are on a path of a field's values, by a cached column of the field's
/// keys.
///
/// It answers without reading from the store.
struct ColumnCondition {
  /// The cost of one test, in index entries read in order.
  static let cost = 0.5
  /// The cost of scanning the column, for each number in it, in index entries.
  private static let scanCost = 0.012
  /// The additional cost for each match, in index entries.
  private static let findCost = 0.1

  /// The keys of the field, by record numbers.
  private let column: KeyColumn
  /// The ranges of the path.
  private let ranges: KeyRangeDirectory
  /// The circle of the path, if it has one.
  private let circle: AccessPath.Circle?

  /// Creates the condition of a path.
  ///
  /// - Parameters:
  ///   - path: a path whose ranges are all of the column's field.
  ///   - column: the cached column of that field.
  init(_ path: AccessPath, _ column: KeyColumn) {
    self.column = column
    ranges = KeyRangeDirectory(path.stretches.compactMap(\.range.numbers))
    circle = path.circle
  }

  /// Returns whether a record is on the path. A record without a value is not.
  func isMet(by number: Int64) -> Bool {
    guard let key = column[number], ranges.contains(key) else { return false }
    // The ranges of a circle contain places outside of it.
    return circle?.mayHold(key) ?? true
  }

  /// Visits the numbers of the records on the path, in ascending order. For a circle, it also
  /// visits the other records in its ranges.
  func visitAll(_ visit: (Int64) -> Void) {
    guard let envelope = ranges.envelope else { return }
    column.visitKeys(in: envelope) { number, key in
      if ranges.contains(key) { visit(number) }
    }
  }

  /// Returns the cost of visiting `members` records, in index entries.
  func cost(ofVisiting members: Double) -> Double {
    Double(column.capacity) * Self.scanCost + members * Self.findCost
  }
}
