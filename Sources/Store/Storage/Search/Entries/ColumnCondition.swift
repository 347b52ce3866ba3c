/// A test whether records are on a path (``AccessPath``) through the values of one field, by its
/// cached column (``KeyColumn``).
struct ColumnCondition {
  /// The cost of one test, in index entries.
  static let cost = 0.5
  /// The cost of a scan, in index entries for each record number that the column has memory for.
  private static let scanCost = 0.012
  /// The additional cost for each found record, in index entries.
  private static let findCost = 0.1

  private let column: KeyColumn
  private let ranges: KeyRangeDirectory
  private let circle: AccessPath.Circle?

  /// The path is one through the values of the column's field.
  init(_ path: AccessPath, _ column: KeyColumn) {
    self.column = column
    ranges = KeyRangeDirectory(path.stretches.compactMap(\.range.numbers))
    circle = path.circle
  }

  /// Returns false for a record without a value.
  func isMet(by number: Int64) -> Bool {
    guard let key = column[number], ranges.contains(key) else { return false }
    // The ranges for a circle also contain places outside of the circle.
    return circle?.mayHold(key) ?? true
  }

  /// In ascending order. Records outside of a circle whose keys are in the ranges are visited,
  /// too.
  func visitAll(_ visit: (Int64) -> Void) {
    guard let envelope = ranges.envelope else { return }
    column.visitKeys(in: envelope) { number, key in
      if ranges.contains(key) { visit(number) }
    }
  }

  /// The cost in index entries, for `members` found records.
  func cost(ofVisiting members: Double) -> Double {
    Double(column.capacity) * Self.scanCost + members * Self.findCost
  }
}
