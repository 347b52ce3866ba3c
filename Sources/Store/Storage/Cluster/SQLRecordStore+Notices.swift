import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func setNoticeHandler(_ handler: (@Sendable (ServerNotice) -> Void)?) {
    notices?.setHandler(handler, in: threads)
  }

  public func tellOfPresence(_ server: ServerID) async throws {
    try await attend { [notices] in try notices?.tell(.here(server), in: $0) }
  }

  public func awaitedParts(of server: ServerID) async throws -> LeftWord {
    try await attend { session in
      // Before the outbox is looked into: what is committed after this leaves word anew.
      try session.isDistributed ? session.hearEach(as: server) : session.hearAll(as: server)
    }
  }
}

extension StoreSession {
  /// Takes word for heard as ``hearAll(as:)`` does, with a statement for each lease, as they may be on
  /// several nodes.
  fileprivate func hearEach(as server: ServerID) throws -> LeftWord {
    let holder = SQLValue.integer(server.rawValue)
    let awaited = try connection.rows(
      "SELECT \(DatabasePart.columns) FROM dispatch_leases WHERE holder = $1 AND awaited = 1",
      [holder], DatabasePart.init(row:))
    let heard = try awaited.filter {
      try connection.run(
        """
        UPDATE dispatch_leases SET awaited = 0 WHERE database_id = $1 AND part = $2 AND part IN (
          SELECT part FROM dispatch_leases
          WHERE database_id = $1 AND part = $2 AND holder = $3 AND awaited = 1
          FOR NO KEY UPDATE SKIP LOCKED)
        """, [.integer($0.database.rawValue), .integer(Int64($0.number)), holder]) == 1
    }
    return LeftWord(heard, isWhole: heard.count == awaited.count)
  }

  /// Takes all word for heard but that which a commit has locked: what that writes is to be seen when
  /// the outbox is looked into.
  ///
  /// It does not wait until that is durable: should PostgreSQL lose its power, word is heard twice.
  fileprivate func hearAll(as server: ServerID) throws -> LeftWord {
    var heard: [DatabasePart] = []
    var awaited: Set<DatabasePart> = []
    // What is read beside the update is as it was before.
    try connection.query(
      """
      WITH heard AS (
        UPDATE dispatch_leases SET awaited = 0 WHERE (database_id, part) IN (
          SELECT database_id, part FROM dispatch_leases WHERE holder = $1 AND awaited = 1
          FOR NO KEY UPDATE SKIP LOCKED)
        RETURNING \(DatabasePart.columns), set_config('synchronous_commit', 'off', true))
      SELECT \(DatabasePart.columns), TRUE FROM heard
      UNION ALL
      SELECT \(DatabasePart.columns), FALSE FROM dispatch_leases WHERE holder = $1 AND awaited = 1
      """, [.integer(server.rawValue)]
    ) { row in
      let part = DatabasePart(row: row)
      if row.integer(3) == 1 { heard.append(part) } else { awaited.insert(part) }
    }
    return LeftWord(heard, isWhole: awaited.isSubset(of: heard))
  }
}
