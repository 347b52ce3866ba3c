import SQLEngine
import StoreModel

extension DatabasePart {
  /// The columns that ``init(row:)`` reads.
  static let columns = "database_id, part, parts"

  /// Reads the first three columns of a row, which are ``columns``.
  init(row: any SQLRow) {
    self.init(
      database: DatabaseID(rawValue: row.integer(0)), number: Int(row.integer(1)),
      count: Int(row.integer(2)))
  }

  /// The part's values as arguments of a statement, in the order of ``columns``.
  var key: [SQLValue] {
    [.integer(database.rawValue), .integer(Int64(number)), .integer(Int64(count))]
  }

  /// The SQL condition for the rows whose subscriber is in the part; empty for a whole database.
  ///
  /// The number of a subscriber's part is the first byte of the SHA-256 of the user record name,
  /// modulo the number of parts. All versions of Petrel must use the same rule, because servers
  /// with different versions must agree. Only PostgreSQL computes it, in this condition.
  var subscriberCondition: String {
    if isWhole { return "" }
    // One byte distributes the subscribers evenly enough over at most 64 parts. A second byte would
    // need a second hash for each row.
    return " AND get_byte(sha256(convert_to(subscriber, 'UTF8')), 0) % \(count) = \(number)"
  }
}
