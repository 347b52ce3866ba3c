import CloudKitModel
import SQLEngine
import StoreModel

/// The sessions of administrators in the browser console. Each node of a distributed store has a
/// copy of the small table (``StoreDistribution``).
struct ConsoleSessionTable: Table {
  let transaction: StoreTransaction

  /// `hash` and `key_hash` are the SHA-256 of the browser's cookie and of the admin key.
  static let definition = [
    """
    CREATE TABLE console_sessions (
      hash BYTEA PRIMARY KEY, key_hash BYTEA NOT NULL, created BIGINT NOT NULL,
      expires BIGINT NOT NULL)
    """,
    "CREATE INDEX console_sessions_by_key ON console_sessions (key_hash, expires)",
  ]

  func consoleSession(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) throws -> (session: ConsoleSession, key: AdminKey)? {
    try connection.first(sql.session, [.bytes(hash), .time(timestamp)]) { row in
      let key = AdminKey(row: row)
      return (
        ConsoleSession(hash: hash, keyHash: key.hash, created: row.time(4), expires: row.time(5)),
        key
      )
    }
  }

  func add(_ console: ConsoleSession) throws -> Bool {
    let added = try connection.run(
      sql.add,
      [
        .bytes(console.hash), .bytes(console.keyHash), .time(console.created),
        .time(console.expires),
      ])
    try decide(sql.trim, [.bytes(console.keyHash), .count(ConsoleSession.limit)])
    return added == 1
  }

  func end(sessionWithHash hash: [UInt8]) throws {
    try decide(sql.end, [.bytes(hash)])
  }

  func endAll(ofKeyWithHash hash: [UInt8]) throws {
    try decide(sql.endAll, [.bytes(hash)])
  }

  func dropExpired(at now: Int64) throws {
    try decide(sql.dropExpired, [.integer(now)])
  }

  struct Statements {
    let session: Statement = """
      SELECT admin_keys.hash, label, admin_keys.created, revoked, console_sessions.created,
        expires
      FROM console_sessions JOIN admin_keys ON admin_keys.hash = key_hash
      WHERE console_sessions.hash = $1 AND expires > $2 AND revoked IS NULL
      """
    let add: Statement = """
      INSERT INTO console_sessions (hash, key_hash, created, expires)
      SELECT $1, hash, $3, $4 FROM admin_keys WHERE hash = $2 AND revoked IS NULL
      """
    let trim: Statement = """
      DELETE FROM console_sessions WHERE hash IN (
        SELECT hash FROM console_sessions WHERE key_hash = $1
        ORDER BY expires DESC LIMIT 1000 OFFSET $2)
      """
    let end: Statement = "DELETE FROM console_sessions WHERE hash = $1"
    let endAll: Statement = "DELETE FROM console_sessions WHERE key_hash = $1"
    let dropExpired: Statement = "DELETE FROM console_sessions WHERE expires <= $1"
  }
  static let sql = Statements()
}
