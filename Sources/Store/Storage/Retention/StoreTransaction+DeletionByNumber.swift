import SQLEngine

extension StoreTransaction {
  /// So many rows are deleted by one statement.
  private static let deletedAtOnce = 100

  /// Deletes rows by their numbers, many with each statement: on PostgreSQL each is a way there and back,
  /// and what is beyond its retention may be tens of thousands.
  ///
  /// - Parameters:
  ///   - statement: ends where the list of the numbers begins: `… AND sequence IN`.
  ///   - arguments: those that come before the numbers.
  func delete(_ statement: String, _ arguments: [SQLValue], numbers: [Int64]) throws {
    var rest = numbers[...]
    while let last = rest.last {
      // Two statements in all, so that each is prepared once: lists are filled up with their last.
      let size = rest.count == 1 ? 1 : Self.deletedAtOnce
      let part = Array(rest.prefix(size))
      rest = rest.dropFirst(size)
      let list = part + repeatElement(part.last ?? last, count: size - part.count)
      let places = list.indices.map { "$\(arguments.count + 1 + $0)" }.joined(separator: ", ")
      try connection.run("\(statement) (\(places))", arguments + list.map { .integer($0) })
    }
  }
}
