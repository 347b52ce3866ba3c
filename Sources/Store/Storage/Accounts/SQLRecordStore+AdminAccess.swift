import CloudKitModel
import SQLEngine
import StoreModel

extension Schema {
  /// Keys of those who run the server, and the browsers that showed one. Small tables that every
  /// node knows.
  static let adminAccess = [
    """
    CREATE TABLE admin_keys (
      hash BYTEA PRIMARY KEY, label TEXT NOT NULL, created BIGINT NOT NULL, revoked BIGINT)
    """,
    """
    CREATE TABLE console_sessions (
      hash BYTEA PRIMARY KEY, key_hash BYTEA NOT NULL, created BIGINT NOT NULL,
      expires BIGINT NOT NULL)
    """,
    "CREATE INDEX console_sessions_by_key ON console_sessions (key_hash, expires)",
  ]
}

extension SQLRecordStore {
  public func addAdminKey(_ key: AdminKey) async throws {
    try await write(locking: .reference) {
      _ = try $0.connection.run(
        "INSERT INTO admin_keys (hash, label, created, revoked) VALUES ($1, $2, $3, $4)",
        [
          .bytes(key.hash), .text(key.label), .integer(key.created.milliseconds),
          SQLValue(key.revoked?.milliseconds),
        ])
    }
  }

  public func adminKeys() async throws -> [AdminKey] {
    try await read {
      try $0.connection.rows(
        "SELECT hash, label, created, revoked FROM admin_keys ORDER BY created, hash", []
      ) { AdminKey($0, from: 0) }
    }
  }

  public func revokeAdminKey(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> Bool {
    try await write(locking: .reference) { session in
      let revoked = try session.connection.run(
        "UPDATE admin_keys SET revoked = $2 WHERE hash = $1 AND revoked IS NULL",
        [.bytes(hash), .integer(timestamp.milliseconds)])
      try session.connection.run(
        "DELETE FROM console_sessions WHERE key_hash = $1", [.bytes(hash)])
      return revoked == 1
    }
  }

  public func addConsoleSession(_ console: ConsoleSession) async throws -> Bool {
    try await write(locking: .reference) { session in
      let added = try session.connection.run(
        """
        INSERT INTO console_sessions (hash, key_hash, created, expires)
        SELECT $1, hash, $3, $4 FROM admin_keys WHERE hash = $2 AND revoked IS NULL
        """,
        [
          .bytes(console.hash), .bytes(console.keyHash), .integer(console.created.milliseconds),
          .integer(console.expires.milliseconds),
        ])
      try session.connection.run(
        """
        DELETE FROM console_sessions WHERE hash IN (
          SELECT hash FROM console_sessions WHERE key_hash = $1
          ORDER BY expires DESC LIMIT 1000 OFFSET $2)
        """, [.bytes(console.keyHash), .integer(Int64(ConsoleSession.limit))])
      return added == 1
    }
  }

  public func consoleSession(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> (session: ConsoleSession, key: AdminKey)? {
    try await read {
      try $0.connection.first(
        """
        SELECT admin_keys.hash, label, admin_keys.created, revoked, console_sessions.created,
          expires
        FROM console_sessions JOIN admin_keys ON admin_keys.hash = key_hash
        WHERE console_sessions.hash = $1 AND expires > $2 AND revoked IS NULL
        """, [.bytes(hash), .integer(timestamp.milliseconds)]
      ) { row in
        let key = AdminKey(row, from: 0)
        return (
          ConsoleSession(
            hash: hash, keyHash: key.hash, created: Timestamp(milliseconds: row.integer(4)),
            expires: Timestamp(milliseconds: row.integer(5))), key
        )
      }
    }
  }

  public func endConsoleSession(withHash hash: [UInt8]) async throws {
    _ = try await write(locking: .reference) {
      try $0.connection.run("DELETE FROM console_sessions WHERE hash = $1", [.bytes(hash)])
    }
  }
}

extension AdminKey {
  fileprivate init(_ row: any SQLRow, from column: Int32) {
    self.init(
      hash: row.bytes(column), label: row.text(column + 1),
      created: Timestamp(milliseconds: row.integer(column + 2)),
      revoked: row.optionalInteger(column + 3).map { Timestamp(milliseconds: $0) })
  }
}
