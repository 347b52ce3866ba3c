import CloudKitModel
import StoreModel

extension SQLRecordStore {
  public func addWebAuthToken(_ token: WebAuthToken) async throws {
    try await write(locking: .reference) { try $0.addWebAuthToken(token) }
  }

  public func webAuthToken(withHash hash: [UInt8]) async throws -> WebAuthToken? {
    try await read {
      try $0.connection.first(
        """
        SELECT hash, user_record_name, created, expires, session_id, container, environment,
          lifetime, used
        FROM web_auth_tokens WHERE hash = $1
        """, [.bytes(hash)], WebAuthToken.init)
    }
  }

  public func rotateWebAuthToken(
    withHash hash: [UInt8], successor: WebAuthToken?, olderExpire: Timestamp?
  ) async throws -> Bool {
    try await write(locking: .reference) { session in
      let token = try session.connection.first(
        "SELECT session_id, created FROM web_auth_tokens WHERE hash = $1 AND session_id IS NOT NULL",
        [.bytes(hash)]
      ) { ($0.bytes(0), $0.integer(1)) }
      guard let (sessionID, created) = token else { return false }
      if let olderExpire {
        try session.connection.run(
          "UPDATE web_auth_tokens SET used = 1 WHERE hash = $1", [.bytes(hash)])
        try session.connection.run(
          """
          UPDATE web_auth_tokens SET expires = $3
          WHERE session_id = $1 AND created < $2 AND expires > $3
          """,
          [.bytes(sessionID), .integer(created), .integer(olderExpire.milliseconds)])
      }
      if let successor { try session.addWebAuthToken(successor) }
      return true
    }
  }

  public func endSessions(
    of userRecordName: String, everywhere: Bool, at timestamp: Timestamp
  ) async throws -> Int {
    try await writeDevices {
      try $0.endSessions(
        of: userRecordName, everywhere: everywhere, at: timestamp, ordering: &$1)
    }
  }
}

extension StoreSession {
  func endSessions(
    of userRecordName: String, everywhere: Bool, at timestamp: Timestamp,
    ordering orders: inout [DeliveryOrder]
  ) throws -> Int {
    let those = "user_record_name = $1" + (everywhere ? "" : " AND session_id IS NOT NULL")
    let count = try connection.first(
      """
      SELECT COUNT(DISTINCT COALESCE(session_id, hash)) FROM web_auth_tokens
      WHERE \(those) AND expires > $2
      """, [.text(userRecordName), .integer(timestamp.milliseconds)]
    ) { $0.integer(0) }
    try connection.run("DELETE FROM web_auth_tokens WHERE \(those)", [.text(userRecordName)])
    if everywhere {
      let devices = DeviceTable(session: self)
      try devices.removeReaders(of: userRecordName, ordering: &orders)
      try devices.removeAll(
        of: userRecordName, kind: .webPush, at: timestamp, ordering: &orders)
    }
    return Int(count ?? 0)
  }

  func addWebAuthToken(_ token: WebAuthToken) throws {
    try refuseDeleted(token.userRecordName)
    _ = try connection.run(
      """
      INSERT INTO web_auth_tokens
        (hash, user_record_name, created, expires, session_id, container, environment, lifetime,
          used)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      ON CONFLICT (hash) DO UPDATE SET user_record_name = excluded.user_record_name,
        created = excluded.created, expires = excluded.expires
      """,
      [
        .bytes(token.hash), .text(token.userRecordName), .integer(token.created.milliseconds),
        .integer(token.expires.milliseconds), token.session.map { .bytes($0.id) } ?? .null,
        SQLValue(token.session?.container), SQLValue(token.session?.environment.rawValue),
        SQLValue(token.session.map { Int64($0.lifetime * 1000) }),
        SQLValue(token.session.map { $0.isUsed ? 1 : 0 }),
      ])
  }
}

extension WebAuthToken {
  fileprivate init(_ row: any SQLRow) throws {
    var session: Session?
    if !row.isNull(4) {
      session = Session(
        id: row.bytes(4), container: row.text(5), environment: try row.environment(6),
        lifetime: Double(row.integer(7)) / 1000, isUsed: row.integer(8) != 0)
    }
    self.init(
      hash: row.bytes(0), userRecordName: row.text(1),
      created: Timestamp(milliseconds: row.integer(2)),
      expires: Timestamp(milliseconds: row.integer(3)), session: session)
  }
}
