import CloudKitModel
import SQLEngine
import StoreModel

/// The web auth tokens of users.
///
/// A token of the sign-in page belongs to a session in one container's environment. While the
/// session is used, new tokens replace older ones
/// (``rotate(tokenWithHash:successor:olderExpire:)``). A token of a native client has no session,
/// is valid in all containers, and stays until it expires or is removed.
struct WebAuthTokenTable: Table {
  let transaction: StoreTransaction

  /// `hash` is the SHA-256 of the token's text, which the store does not have. The columns from
  /// `session_id` on are null for a token without a session. `lifetime` is in milliseconds. `used`
  /// is 1 after the first request with the token.
  static let definition = [
    """
    CREATE TABLE web_auth_tokens (
      hash BYTEA PRIMARY KEY, user_record_name TEXT NOT NULL, created BIGINT NOT NULL,
      expires BIGINT NOT NULL, session_id BYTEA, container TEXT, environment TEXT,
      lifetime BIGINT, used BIGINT)
    """,
    "CREATE INDEX web_auth_tokens_by_session ON web_auth_tokens (session_id, created)",
  ]

  func token(withHash hash: [UInt8]) throws -> WebAuthToken? {
    try connection.first(sql.token, [.bytes(hash)], WebAuthToken.init(row:))
  }

  /// Unexpired tokens only. Those that expire last come first.
  func tokens(of userRecordName: String, at timestamp: Timestamp) throws -> [UserHoldings.Token] {
    try connection.rows(
      sql.tokens, [.text(userRecordName), .time(timestamp), .count(UserHoldings.tokenLimit)]
    ) { row in
      UserHoldings.Token(
        created: row.time(2), expires: row.time(3),
        session: row.isNull(0) ? nil : try ContainerPlace(row: row))
    }
  }

  /// Stores a token. A token with the same hash gets its user and times, and keeps its session.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently.
  func add(_ token: WebAuthToken) throws {
    try UserDeletionTable(transaction: transaction).refuseDeleted(token.userRecordName)
    _ = try connection.run(
      sql.add,
      [
        .bytes(token.hash), .text(token.userRecordName), .time(token.created), .time(token.expires),
        token.session.map { .bytes($0.id) } ?? .null, SQLValue(token.session?.container),
        SQLValue(token.session?.environment.rawValue),
        SQLValue(token.session.map { Int64($0.lifetime * 1000) }),
        SQLValue(token.session.map { $0.isUsed ? 1 : 0 }),
      ])
  }

  func endSession(
    withID id: [UInt8], at timestamp: Timestamp, ordering orders: inout [DeliveryOrder]
  ) throws {
    try delete(sql.deleteOfSession, [.bytes(id)], at: timestamp, ordering: &orders)
  }

  /// Deletes tokens, and the registrations of devices whose sign-in has no token any more.
  private func delete(
    _ deletion: Statement, _ arguments: [SQLValue], at timestamp: Timestamp,
    ordering orders: inout [DeliveryOrder]
  ) throws {
    let users = try connection.texts(deletion, arguments)
    for user in Set(users).sorted() {
      try DeviceTable(transaction: transaction)
        .removeSignedOut(of: user, at: timestamp, ordering: &orders)
    }
  }

  /// See ``AccountService/rotateWebAuthToken(withHash:successor:olderExpire:)``.
  func rotate(
    tokenWithHash hash: [UInt8], successor: WebAuthToken?, olderExpire: Timestamp?
  ) throws -> Bool {
    let token = try connection.first(sql.session, [.bytes(hash)]) { ($0.bytes(0), $0.integer(1)) }
    guard let (sessionID, created) = token else { return false }
    if let olderExpire {
      try decide(sql.use, [.bytes(hash)])
      try decide(sql.endOlder, [.bytes(sessionID), .integer(created), .time(olderExpire)])
    }
    if let successor { try add(successor) }
    return true
  }

  /// See ``AccountService/endSessions(of:everywhere:at:)``.
  func endSessions(
    of userRecordName: String, everywhere: Bool, at timestamp: Timestamp,
    ordering orders: inout [DeliveryOrder]
  ) throws -> Int {
    let count = try connection.integer(
      everywhere ? sql.countAll : sql.countSessions, [.text(userRecordName), .time(timestamp)])
    try delete(
      everywhere ? sql.deleteAll : sql.deleteSessions, [.text(userRecordName)], at: timestamp,
      ordering: &orders)
    if everywhere {
      try DeviceTable(transaction: transaction).removeAll(
        of: userRecordName, kinds: [.apns, .courier, .webPush], at: timestamp,
        because: .signedOut, ordering: &orders)
    }
    return Int(count ?? 0)
  }

  /// Deletes the expired tokens, and the registrations of devices whose sign-in has thereby ended.
  func dropExpired(at now: Int64, ordering orders: inout [DeliveryOrder]) throws {
    try delete(
      sql.deleteExpired, [.integer(now)], at: Timestamp(milliseconds: now), ordering: &orders)
  }

  struct Statements {
    let token: Statement = """
      SELECT hash, user_record_name, created, expires, session_id, container, environment,
        lifetime, used
      FROM web_auth_tokens WHERE hash = $1
      """
    let tokens = """
      SELECT container, environment, created, expires FROM web_auth_tokens
      WHERE user_record_name = $1 AND expires > $2 ORDER BY expires DESC, hash LIMIT $3
      """.except(.wholeTable)
    let add: Statement = """
      INSERT INTO web_auth_tokens
        (hash, user_record_name, created, expires, session_id, container, environment, lifetime,
          used)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      ON CONFLICT (hash) DO UPDATE SET user_record_name = excluded.user_record_name,
        created = excluded.created, expires = excluded.expires
      """
    let session: Statement =
      "SELECT session_id, created FROM web_auth_tokens WHERE hash = $1 AND session_id IS NOT NULL"
    let use: Statement = "UPDATE web_auth_tokens SET used = 1 WHERE hash = $1"
    let endOlder: Statement = """
      UPDATE web_auth_tokens SET expires = $3
      WHERE session_id = $1 AND created < $2 AND expires > $3
      """
    let deleteOfSession = deletion(where: "session_id = $1")
    let deleteExpired = deletion(where: "expires <= $1", .wholeTable)
    let deleteAll = deletion(where: "user_record_name = $1", .wholeTable)
    let deleteSessions = deletion(
      where: "user_record_name = $1 AND session_id IS NOT NULL", .wholeTable)
    let countAll = counting("user_record_name = $1")
    let countSessions = counting("user_record_name = $1 AND session_id IS NOT NULL")
  }
  static let sql = Statements()

  private static func deletion(
    where condition: String, _ traits: Statement.Traits = []
  ) -> Statement {
    Statement("DELETE FROM web_auth_tokens WHERE \(condition) RETURNING user_record_name", traits)
  }

  private static func counting(_ condition: String) -> Statement {
    """
    SELECT COUNT(DISTINCT COALESCE(session_id, hash)) FROM web_auth_tokens
    WHERE \(condition) AND expires > $2
    """.except(.wholeTable)
  }
}

extension WebAuthToken {
  /// A session's lifetime is in milliseconds in the row, and in seconds in ``WebAuthToken``.
  fileprivate init(row: any SQLRow) throws {
    var session: Session?
    if !row.isNull(4) {
      session = Session(
        id: row.bytes(4), container: row.text(5), environment: try row.environment(6),
        lifetime: Double(row.integer(7)) / 1000, isUsed: row.integer(8) != 0)
    }
    self.init(
      hash: row.bytes(0), userRecordName: row.text(1), created: row.time(2), expires: row.time(3),
      session: session)
  }
}
