import CloudKitModel

extension SQLRecordStore {
  public func addUser(named name: String, at timestamp: Timestamp) async throws -> User {
    try await write { try $0.addUser(named: name, at: timestamp) }
  }

  public func user(named name: String) async throws -> User? {
    try await read {
      try $0.connection.first(
        "SELECT name, user_record_name, created FROM users WHERE name = $1", [.text(name)],
        User.init)
    }
  }

  public func user(withRecordName userRecordName: String) async throws -> User? {
    try await read {
      try $0.connection.first(
        "SELECT name, user_record_name, created FROM users WHERE user_record_name = $1",
        [.text(userRecordName)], User.init)
    }
  }

  public func users() async throws -> [User] {
    try await read {
      try $0.connection.rows(
        "SELECT name, user_record_name, created FROM users ORDER BY name", [], User.init)
    }
  }

  public func addWebAuthToken(_ token: WebAuthToken) async throws {
    try await write { session in
      _ = try session.connection.run(
        """
        INSERT INTO web_auth_tokens (hash, user_record_name, created, expires)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (hash) DO UPDATE SET user_record_name = excluded.user_record_name,
          created = excluded.created, expires = excluded.expires
        """,
        [
          .bytes(token.hash), .text(token.userRecordName), .integer(token.created.milliseconds),
          .integer(token.expires.milliseconds),
        ])
    }
  }

  public func webAuthToken(withHash hash: [UInt8]) async throws -> WebAuthToken? {
    try await read {
      try $0.connection.first(
        "SELECT user_record_name, created, expires FROM web_auth_tokens WHERE hash = $1",
        [.bytes(hash)]
      ) {
        WebAuthToken(
          hash: hash, userRecordName: $0.text(0), created: Timestamp(milliseconds: $0.integer(1)),
          expires: Timestamp(milliseconds: $0.integer(2)))
      }
    }
  }
}

extension User {
  fileprivate init(_ row: any SQLRow) {
    self.init(
      name: row.text(0), userRecordName: row.text(1),
      created: Timestamp(milliseconds: row.integer(2)))
  }
}

extension StoreSession {
  fileprivate func addUser(named name: String, at timestamp: Timestamp) throws -> User {
    let digits = makeUUID().uuidString.lowercased().filter { $0 != "-" }
    let user = User(name: name, userRecordName: "_" + digits, created: timestamp)
    let added = try connection.run(
      """
      INSERT INTO users (name, user_record_name, created) VALUES ($1, $2, $3)
      ON CONFLICT (name) DO NOTHING
      """,
      [.text(name), .text(user.userRecordName), .integer(timestamp.milliseconds)])
    guard added == 1 else {
      throw StoreError(.exists, "there is a user named '\(name)' already; choose another name")
    }
    return user
  }
}
