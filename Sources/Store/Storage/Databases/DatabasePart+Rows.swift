import SQLEngine
import StoreModel

extension DatabasePart {
  /// The columns that ``init(row:)`` reads.
  static let columns = "database_id, part, parts"

  /// Reads the row's first columns, which are ``columns``.
  init(row: any SQLRow) {
    self.init(
      database: DatabaseID(rawValue: row.integer(0)), number: Int(row.integer(1)),
      count: Int(row.integer(2)))
  }

  /// The arguments of a statement that selects the part by all of its columns.
  var key: [SQLValue] {
    [.integer(database.rawValue), .integer(Int64(number)), .integer(Int64(count))]
  }

  /// A condition for the rows whose subscriber is in the part; empty for a whole database.
  ///
  /// Only PostgreSQL's functions compute a subscriber's part. They are the same in all versions,
  /// since servers with different versions must agree.
  ///
  /// The part of a subscriber is the first byte of the SHA-256 of the user record name, modulo the
  /// number of parts.
  var subscriberCondition: String {
    if isWhole { return "" }
    // One byte distributes evenly enough over at most 64 parts. It costs one hash a row instead of
    // two.
    return " AND get_byte(sha256(convert_to(subscriber, 'UTF8')), 0) % \(count) = \(number)"
  }
}
