/// A search through rows that reads a limited number of rows, in pieces.
///
/// The caller's function selects the rows that match. It may skip most rows, so a limit of the
/// matches alone would not limit the number of rows read. A call therefore also ends after
/// ``budget`` rows. The result may have few matches, or none, although more matches follow: the
/// caller then continues from the returned position.
///
/// ```swift
/// let search = PiecewiseSearch(budget: 5_000, pieceSize: 200, limit: 50)
/// let (found, next) = try search.walk(from: Int64.max) { place, count in
///   try log.entries(of: database, before: place, limit: count)
/// } place: { $0.sequence } wanted: { isWanted($0) ? $0 : nil }
/// ```
///
/// - Complexity: a call reads at most ``budget`` rows.
struct PiecewiseSearch {
  /// The most rows read by one call of ``walk(from:read:place:wanted:)``.
  var budget: Int
  /// The number of rows read at once, and so the most rows in memory besides the matches.
  var pieceSize: Int
  /// The most matches returned; at least 1. The call ends at the row of the last match.
  var limit: Int

  /// Reads rows in the order of `read`, and returns the matches.
  ///
  /// - Parameters:
  ///   - start: the position after which the search begins.
  ///   - read: returns the next rows after a position. The number is the count of rows to return;
  ///     fewer rows mean that no rows follow.
  ///   - place: returns the position of a row.
  ///   - wanted: returns the match for a row; nil skips the row.
  /// - Returns: `found` has the matches. `next` is the position after which the next call
  ///   continues; nil if no rows follow.
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
