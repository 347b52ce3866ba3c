import CloudKitModel
import StoreModel

extension SQLRecordStore {
  public func addAPIToken(_ token: APIToken) async throws {
    var redirectURL: String?
    if case .redirect(let url) = token.signInCallback { redirectURL = url }
    let arguments: [SQLValue] = [
      .bytes(token.hash), .text(token.container), .text(token.environment.rawValue),
      .text(token.name), SQLValue(redirectURL),
      .text(token.allowedOrigins.sorted().joined(separator: " ")),
      .integer(token.created.milliseconds), SQLValue(token.revoked?.milliseconds),
    ]
    try await write(locking: .reference) { session in
      _ = try session.connection.run(
        """
        INSERT INTO api_tokens
          (hash, container, environment, name, redirect_url, allowed_origins, created, revoked)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """, arguments)
    }
  }

  public func addServerKey(_ key: ServerKey) async throws {
    let arguments: [SQLValue] = [
      .text(key.keyID), .text(key.container), .text(key.environment.rawValue), .text(key.name),
      .text(key.publicKey), .text(key.userRecordName), .integer(key.created.milliseconds),
      SQLValue(key.revoked?.milliseconds),
    ]
    try await write(locking: .reference) { session in
      let added = try session.connection.run(
        """
        INSERT INTO server_keys
          (key_id, container, environment, name, public_key, user_record_name, created, revoked)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
        """, arguments)
      guard added == 1 else {
        throw StoreError(
          .exists,
          "the public key was registered for \(key.container) (\(key.environment.rawValue)) "
            + "already; make another pair of keys")
      }
    }
  }

  public func programCredentials(
    container: String, environment: ContainerEnvironment
  ) async throws -> ProgramCredentials {
    let place: [SQLValue] = [.text(container), .text(environment.rawValue)]
    return try await read { session in
      ProgramCredentials(
        apiTokens: try session.connection.rows(
          APIToken.selection + " WHERE container = $1 AND environment = $2 ORDER BY created, hash",
          place, APIToken.init),
        serverKeys: try session.connection.rows(
          ServerKey.selection
            + " WHERE container = $1 AND environment = $2 ORDER BY created, key_id", place,
          ServerKey.init))
    }
  }

  public func programCredentials() async throws -> ProgramCredentials {
    try await read { session in
      ProgramCredentials(
        apiTokens: try session.connection.rows(
          APIToken.selection + " ORDER BY container, environment, created, hash", [],
          APIToken.init),
        serverKeys: try session.connection.rows(
          ServerKey.selection + " ORDER BY container, environment, created, key_id", [],
          ServerKey.init))
    }
  }

  public func revokeAPIToken(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> Bool {
    try await write(locking: .reference) {
      try $0.connection.run(
        "UPDATE api_tokens SET revoked = $2 WHERE hash = $1 AND revoked IS NULL",
        [.bytes(hash), .integer(timestamp.milliseconds)]) == 1
    }
  }

  public func revokeServerKey(_ keyID: String, at timestamp: Timestamp) async throws -> Bool {
    try await writeDevices { session, orders in
      let user = try session.connection.first(
        """
        UPDATE server_keys SET revoked = $2 WHERE key_id = $1 AND revoked IS NULL
        RETURNING user_record_name
        """, [.text(keyID), .integer(timestamp.milliseconds)]
      ) { $0.text(0) }
      guard let user else { return false }
      try DeviceTable(session: session)
        .removeAll(of: user, kind: .webhook, at: timestamp, ordering: &orders)
      return true
    }
  }

  public func takeSignature(
    _ signature: [UInt8], ofKey keyID: String, until expires: Timestamp
  ) async throws -> Bool {
    try await write(locking: .rows) {
      try $0.connection.run(
        """
        INSERT INTO taken_signatures (key_id, signature, expires) VALUES ($1, $2, $3)
        ON CONFLICT DO NOTHING
        """, [.text(keyID), .bytes(signature), .integer(expires.milliseconds)]) == 1
    }
  }
}

extension StoreSession {
  /// Forgets some of the signatures whose time is up; whether there may be more.
  func trimSignatures(at now: Int64) throws -> Bool {
    try connection.run(
      """
      DELETE FROM taken_signatures WHERE (key_id, signature) IN (
        SELECT key_id, signature FROM taken_signatures WHERE expires <= $1 LIMIT $2)
      """, [.integer(now), .integer(Retention.batch)]) == Int(Retention.batch)
  }
}

extension APIToken {
  /// The columns that ``init(_:)`` reads.
  fileprivate static let selection = """
    SELECT hash, container, environment, name, redirect_url, allowed_origins, created, revoked
    FROM api_tokens
    """

  fileprivate init(_ row: any SQLRow) throws {
    self.init(
      hash: row.bytes(0), name: row.text(3), container: row.text(1),
      environment: try row.environment(2),
      signInCallback: row.optionalText(4).map { .redirect(url: $0) } ?? .postMessage,
      allowedOrigins: Set(row.text(5).split(separator: " ").map(String.init)),
      created: Timestamp(milliseconds: row.integer(6)),
      revoked: row.optionalInteger(7).map { Timestamp(milliseconds: $0) })
  }
}

extension ServerKey {
  /// The columns that ``init(_:)`` reads.
  fileprivate static let selection = """
    SELECT key_id, container, environment, name, public_key, user_record_name, created, revoked
    FROM server_keys
    """

  fileprivate init(_ row: any SQLRow) throws {
    self.init(
      keyID: row.text(0), name: row.text(3), container: row.text(1),
      environment: try row.environment(2), publicKey: row.text(4), userRecordName: row.text(5),
      created: Timestamp(milliseconds: row.integer(6)),
      revoked: row.optionalInteger(7).map { Timestamp(milliseconds: $0) })
  }
}

extension SQLRow {
  func environment(_ column: Int32) throws -> ContainerEnvironment {
    guard let environment = ContainerEnvironment(rawValue: text(column)) else {
      throw StoreError(.corrupt, "the store has the unknown environment '\(text(column))'")
    }
    return environment
  }
}
