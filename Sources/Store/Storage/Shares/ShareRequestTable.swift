import SQLEngine
import StoreModel

/// The users who have requested access to a share, and those whose requests the share ignores.
struct ShareRequestTable: Table {
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
      Self.sql.users, [.id(database), .integer(share)]
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
        try decide(
          Self.sql.save, [.id(database), .integer(share), .text(user), .integer(isBlocked)])
      }
    }
  }

  func removeAll(of share: Int64, in database: DatabaseID) throws {
    try decide(Self.sql.removeAll, [.id(database), .integer(share)])
  }

  // MARK: The deletion of a user

  func nextDatabase(after database: DatabaseID, of user: String) throws -> Int64? {
    try connection.integer(Self.sql.nextDatabase, [.text(user), .id(database)])
  }

  func shares(with user: String, in database: DatabaseID, limit: Int) throws -> [Int64] {
    try connection.integers(Self.sql.shares, [.text(user), .id(database), .count(limit)])
  }

  func remove(_ user: String, of share: Int64, in database: DatabaseID) throws {
    try decide(Self.sql.remove, [.id(database), .integer(share), .text(user)])
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
    let nextDatabase = """
      SELECT database_id FROM share_requests WHERE user_record_name = $1 AND database_id > $2
      ORDER BY database_id LIMIT 1
      """.except(.everyDatabase)
    let shares: Statement = """
      SELECT share_number FROM share_requests
      WHERE user_record_name = $1 AND database_id = $2 ORDER BY share_number LIMIT $3
      """
    let remove: Statement = """
      DELETE FROM share_requests
      WHERE database_id = $1 AND share_number = $2 AND user_record_name = $3
      """
  }
  static let sql = Statements()
}
