import SQLEngine
import StoreModel

extension DatabasePart {
  static let columns = "database_id, part, parts"

  init(row: any SQLRow) {
    self.init(
      database: DatabaseID(rawValue: row.integer(0)), number: Int(row.integer(1)),
      count: Int(row.integer(2)))
  }

  /// The arguments of a statement that names the part by all of its columns.
  var key: [SQLValue] {
    [.integer(database.rawValue), .integer(Int64(number)), .integer(Int64(count))]
  }

  /// A condition for the rows whose subscriber is in the part; none for a whole database.
  ///
  /// Only PostgreSQL's functions know in which part somebody is. They are the same in all versions, as
  /// servers with different ones must agree.
  var subscriberCondition: String {
    if isWhole { return "" }
    // One byte is even enough for so few parts, and one hash a row less than two would need.
    return " AND get_byte(sha256(convert_to(subscriber, 'UTF8')), 0) % \(count) = \(number)"
  }
}
