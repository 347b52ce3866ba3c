/// A search through rows in pieces, which bounds the rows in memory and the rows read by one call.
///
/// A filter in Swift may skip most rows, so a limit on matches alone would not bound the work. The
/// caller continues with the returned position. An answer may therefore have few matches, or none,
/// although more follow.
///
/// ```swift
/// let search = PiecewiseSearch(budget: 5_000, pieceSize: 200, limit: 50)
/// let (found, next) = try search.walk(from: Int64.max) { place, count in
///   try log.entries(of: database, before: place, limit: count)
/// } place: { $0.sequence } wanted: { isWanted($0) ? $0 : nil }
/// ```
///
/// - Complexity: at most ``budget`` rows are read, whatever the search matches.
struct PiecewiseSearch {
  /// The most rows read by one call of ``walk(from:read:place:wanted:)``.
  var budget: Int
  /// The number of rows read at once, and so the most rows in memory besides the matches.
  var pieceSize: Int
  /// The most matches returned; at least 1. The walk ends at the row of the last one.
  var limit: Int

  /// Visits rows in their order.
  ///
  /// - Parameters:
  ///   - start: the position after which the walk begins.
  ///   - read: returns the next rows after a position, as many as requested unless there are no
  ///     more.
  ///   - place: returns the position of a row.
  ///   - wanted: returns the match in a row; nil skips the row.
  /// - Returns: the matches, and the position after which the search continues; nil at the end.
  func walk<Row, Place, Found>(
    from start: Place, read: (Place, Int) throws -> [Row], place: (Row) -> Place,
    wanted: (Row) throws -> Found?
  ) rethrows -> (found: [Found], next: Place?) {
    var found: [Found] = []
    var last = start
    var seen = 0
    while seen < budget {
      let count = min(pieceSize, budget - seen)
      let rows = try read(last, count)
      seen += rows.count
      for row in rows {
        last = place(row)
        guard let item = try wanted(row) else { continue }
        found.append(item)
        if found.count == limit { return (found, last) }
      }
      if rows.count < count { return (found, nil) }
    }
    return (found, last)
  }
}
