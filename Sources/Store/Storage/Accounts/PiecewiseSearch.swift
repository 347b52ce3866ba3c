/// A search through rows in pieces, so that no more of them are in memory than a piece has, and no more
/// are looked at than a call may.
///
/// - Complexity: at most ``budget`` rows are read, whatever is wanted of them.
struct PiecewiseSearch {
  /// Rows that are looked at.
  var budget: Int
  /// Rows that are read at once.
  var pieceSize: Int
  /// How many of what is wanted are found at most.
  var limit: Int

  /// Walks through rows in their order.
  ///
  /// - Parameters:
  ///   - place: behind which the walk begins; what `place` tells of a row.
  ///   - read: the next rows behind a place, as many as it is asked for unless there are no more.
  ///   - wanted: what is found in a row; nil for a row that is passed over.
  /// - Returns: what was found, and behind which place the search goes on; nil at the end of the rows.
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
