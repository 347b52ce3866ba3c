import CloudKitModel
import SQLEngine
import StoreModel

extension SQLValue {
  static func id(_ database: DatabaseID) -> SQLValue { .integer(database.rawValue) }
  static func count(_ count: Int) -> SQLValue { .integer(Int64(count)) }
  static func time(_ time: Timestamp) -> SQLValue { .integer(time.milliseconds) }
}

/// A statement on subscribers that can be limited to those of a part.
struct PartStatement {
  private let whole, ofPart: Statement

  /// Declares a statement whose last arguments are ``DatabasePart/division``.
  ///
  /// A subscriber's part is the first byte of the SHA-256 of the user record name, modulo the
  /// number of parts. All versions of Petrel must use the same rule, because servers with different
  /// versions must agree. Only PostgreSQL computes it, in this condition.
  init(_ head: String, arguments count: Int, _ tail: String) {
    whole = Statement(head + tail)
    // One byte distributes the subscribers evenly enough over at most 64 parts. A second byte would
    // need a second hash for each row.
    ofPart = """
      \(head) AND get_byte(sha256(convert_to(subscriber, 'UTF8')), 0) % $\(count + 1) = $\(count + 2)\(tail)
      """.except(.onPostgreSQL)
  }

  func callAsFunction(_ part: DatabasePart) -> Statement { part.isWhole ? whole : ofPart }
}

extension DatabasePart {
  static let columns = "database_id, part, parts"

  init(row: any SQLRow) {
    self.init(database: row.database(0), number: row.count(1), count: row.count(2))
  }

  var key: [SQLValue] {
    [.id(database), .count(number), .count(count)]
  }

  var division: [SQLValue] { Array(key.dropFirst().reversed()) }
}
