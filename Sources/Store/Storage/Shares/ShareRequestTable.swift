import CloudKitModel
import SQLEngine
import StoreModel

/// The users who have requested access to a share, and those whose requests the share ignores.
struct ShareRequestTable {
  let transaction: StoreTransaction
  private var connection: any SQLConnection { transaction.connection }

  /// The table of users, with the index by which the deletion of a user finds the user's rows.
  ///
  /// `is_blocked` is 1 for a user whose requests are ignored, otherwise 0.
  static let definition = [
    """
    CREATE TABLE share_requests (
      database_id BIGINT NOT NULL, share_number BIGINT NOT NULL, user_record_name TEXT NOT NULL,
      is_blocked BIGINT NOT NULL,
      PRIMARY KEY (database_id, share_number, user_record_name)) /*clustered*/
    """,
    "CREATE INDEX share_requests_by_user ON share_requests (user_record_name, database_id)",
  ]

  /// Returns the users of a share, in the order of their record names.
  func users(
    of share: Int64, in database: DatabaseID
  ) throws -> (requesters: [String], blocked: [String]) {
    let rows = try connection.rows(
      """
      SELECT user_record_name, is_blocked FROM share_requests
      WHERE database_id = $1 AND share_number = $2 ORDER BY user_record_name
      """, [.integer(database.rawValue), .integer(share)]
    ) { (user: $0.text(0), isBlocked: $0.integer(1) != 0) }
    return (
      rows.filter { !$0.isBlocked }.map(\.user), rows.filter(\.isBlocked).map(\.user)
    )
  }

  /// Replaces the users of a share.
  func save(
    requesters: [String], blocked: [String], of share: Int64, in database: DatabaseID
  ) throws {
    let before = try users(of: share, in: database)
    guard before.requesters != requesters || before.blocked != blocked else { return }
    try removeAll(of: share, in: database)
    for (users, isBlocked) in [(requesters, Int64(0)), (blocked, 1)] {
      for user in users {
        try connection.run(
          """
          INSERT INTO share_requests (database_id, share_number, user_record_name, is_blocked)
          VALUES ($1, $2, $3, $4)
          """,
          [
            .integer(database.rawValue), .integer(share), .text(user), .integer(isBlocked),
          ])
      }
    }
  }

  /// Removes the users of a share that ends.
  func removeAll(of share: Int64, in database: DatabaseID) throws {
    try connection.run(
      "DELETE FROM share_requests WHERE database_id = $1 AND share_number = $2",
      [.integer(database.rawValue), .integer(share)])
  }

  // MARK: The deletion of a user

  /// Returns the next database with a row of a user, in the order of numbers; nil at the end.
  func nextDatabase(after database: DatabaseID, of user: String) throws -> Int64? {
    try connection.first(
      """
      SELECT database_id FROM share_requests WHERE user_record_name = $1 AND database_id > $2
      ORDER BY database_id LIMIT 1
      """, [.text(user), .integer(database.rawValue)]
    ) { $0.integer(0) }
  }

  /// Returns the shares of a database that have a row of a user.
  func shares(with user: String, in database: DatabaseID, limit: Int) throws -> [Int64] {
    try connection.rows(
      """
      SELECT share_number FROM share_requests
      WHERE user_record_name = $1 AND database_id = $2 ORDER BY share_number LIMIT $3
      """, [.text(user), .integer(database.rawValue), .integer(Int64(limit))]
    ) { $0.integer(0) }
  }

  /// Removes the row of a user.
  func remove(_ user: String, of share: Int64, in database: DatabaseID) throws {
    try connection.run(
      """
      DELETE FROM share_requests
      WHERE database_id = $1 AND share_number = $2 AND user_record_name = $3
      """, [.integer(database.rawValue), .integer(share), .text(user)])
  }
}
