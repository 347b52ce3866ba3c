import SQLEngine
import StoreModel

/// The users who have requested access to a share, and those whose requests the share ignores.
struct ShareRequestTable: ShareUserTable {
  let transaction: StoreTransaction

  /// `is_blocked` is 1 for a user whose requests are ignored.
  static let definition = [
    """
    CREATE TABLE share_requests (
      database_id BIGINT NOT NULL, share_number BIGINT NOT NULL, user_record_name TEXT NOT NULL,
      is_blocked BIGINT NOT NULL,
      PRIMARY KEY (database_id, share_number, user_record_name)) /*clustered*/
    """,
    "CREATE INDEX share_requests_by_user ON share_requests (user_record_name, database_id)",
  ]

  func users(
    of share: Int64, in database: DatabaseID
  ) throws -> (requesters: [String], blocked: [String]) {
    let rows = try connection.rows(
      sql.users, [.id(database), .integer(share)]
    ) { (user: $0.text(0), isBlocked: $0.integer(1) != 0) }
    return (
      rows.filter { !$0.isBlocked }.map(\.user), rows.filter(\.isBlocked).map(\.user)
    )
  }

  func save(
    requesters: [String], blocked: [String], of share: Int64, in database: DatabaseID
  ) throws {
    let before = try users(of: share, in: database)
    guard before.requesters != requesters || before.blocked != blocked else { return }
    try removeAll(of: share, in: database)
    for (users, isBlocked) in [(requesters, Int64(0)), (blocked, 1)] {
      for user in users {
        try decide(sql.save, [.id(database), .integer(share), .text(user), .integer(isBlocked)])
      }
    }
  }

  func removeAll(of share: Int64, in database: DatabaseID) throws {
    try decide(sql.removeAll, [.id(database), .integer(share)])
  }

  struct Statements {
    let users: Statement = """
      SELECT user_record_name, is_blocked FROM share_requests
      WHERE database_id = $1 AND share_number = $2 ORDER BY user_record_name
      """
    let save: Statement = """
      INSERT INTO share_requests (database_id, share_number, user_record_name, is_blocked)
      VALUES ($1, $2, $3, $4)
      """
    let removeAll: Statement =
      "DELETE FROM share_requests WHERE database_id = $1 AND share_number = $2"
    let ofUser = ShareUserStatements("share_requests")
  }
  static let sql = Statements()
  static var ofUser: ShareUserStatements { sql.ofUser }
}

/// A table with the users of shares, from which the deletion of a user removes the user.
protocol ShareUserTable: Table {
  static var ofUser: ShareUserStatements { get }
}

extension ShareUserTable {
  func nextDatabase(after database: DatabaseID, of user: String) throws -> Int64? {
    try connection.integer(Self.ofUser.nextDatabase, [.text(user), .id(database)])
  }

  func shares(with user: String, in database: DatabaseID, limit: Int) throws -> [Int64] {
    try connection.integers(Self.ofUser.shares, [.text(user), .id(database), .count(limit)])
  }

  func remove(_ user: String, of share: Int64, in database: DatabaseID) throws {
    try decide(Self.ofUser.remove, [.id(database), .integer(share), .text(user)])
  }
}

/// The statements of a ``ShareUserTable``.
struct ShareUserStatements {
  let nextDatabase, shares, remove: Statement

  init(_ table: String) {
    nextDatabase = """
      SELECT database_id FROM \(table) WHERE user_record_name = $1 AND database_id > $2
      ORDER BY database_id LIMIT 1
      """.except(.everyDatabase)
    shares = """
      SELECT share_number FROM \(table)
      WHERE user_record_name = $1 AND database_id = $2 ORDER BY share_number LIMIT $3
      """
    remove = """
      DELETE FROM \(table) WHERE database_id = $1 AND share_number = $2 AND user_record_name = $3
      """
  }
}
