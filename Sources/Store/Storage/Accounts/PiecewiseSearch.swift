/// A search through rows that reads a limited number of rows, in pieces.
///
/// The caller's function selects the rows that match. A call ends after ``budget`` rows, since a
/// limit of the matches alone would not limit the rows read. The result may then have few matches,
/// or none, although more follow: the caller continues from the returned position.
///
/// ```swift
/// let search = PiecewiseSearch(budget: 5_000, pieceSize: 200, limit: 50)
/// let (found, next) = try search.walk(from: Int64.max) { place, count in
///   try log.entries(of: database, before: place, limit: count)
/// } place: { $0.sequence } wanted: { isWanted($0) ? $0 : nil }
/// ```
struct PiecewiseSearch {
  var budget: Int
  var pieceSize: Int
  /// The most matches returned; at least 1. The call ends at the row of the last match.
  var limit: Int

  /// Reads rows in the order of `read`, and returns the matches.
  ///
  /// - Parameter read: returns the next rows after a position. The number is the count of rows to
  ///   return; fewer rows mean that no rows follow.
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
