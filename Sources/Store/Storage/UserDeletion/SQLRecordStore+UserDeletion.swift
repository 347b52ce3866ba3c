import CloudKitModel
import Cryptography
import KillPoints
import StoreModel

extension SQLRecordStore {
  public func beginUserDeletion(
    named name: String, publicRecords: UserDeletion.PublicRecords, at timestamp: Timestamp
  ) async throws -> UserDeletion {
    // Nobody is in the midst of a write, and whoever writes later knows of the deletion.
    try await writeDevices(locking: .everything) { session, orders in
      guard let user = try session.user(named: name) else { throw StoreError.noUser(named: name) }
      if let known = try session.userDeletions().first(where: { $0.user == user.userRecordName }) {
        return known.deletion
      }
      try session.endAccess(of: user, at: timestamp, ordering: &orders)
      let deletion = UserDeletion(
        identifier: UserDeletionRow.identifier(for: StoreSession.hash(of: user.userRecordName)),
        name: user.name, userRecordName: user.userRecordName, publicRecords: publicRecords,
        stage: .publicRows, done: 0, began: timestamp)
      try session.add(deletion, of: user.userRecordName)
      try session.raiseSchemaVersion()
      return deletion
    }
  }

  public func userDeletions() async throws -> [UserDeletion] {
    try await read { try $0.userDeletions().map(\.deletion) }
  }

  public func continueUserDeletion(at timestamp: Timestamp) async throws -> UserDeletion? {
    let pending = try await read { try $0.userDeletions() }
    var waiting: UserDeletion?
    for row in pending where row.deletion.stage != .erasure {
      let deletion = try await takeStep(of: row, at: timestamp)
      KillPoint.afterDeletionStep.reach()
      guard deletion.state == .waiting else { return deletion }
      waiting = waiting ?? deletion
    }
    let last = pending.filter { $0.deletion.stage == .erasure }
    if last.isEmpty { return waiting }
    defer { KillPoint.afterDeletionStep.reach() }
    return try await erase(last, at: timestamp)
  }

  /// Erases what deletions have left in the store's file, once for all that are so far: it takes as long
  /// for many as for one.
  private func erase(
    _ rows: [UserDeletionRow], at timestamp: Timestamp
  ) async throws -> UserDeletion? {
    let unerased = rows.filter { $0.position == 0 }
    if !unerased.isEmpty {
      try await eraseFreePages()
      try await write(locking: .reference) { session in
        for var row in unerased {
          row.position = 1
          try session.keep(row)
        }
      }
      return unerased.first?.deletion
    }
    var deletion = rows.first?.deletion
    guard try await eraseLog() else {
      deletion?.state = .waiting
      return deletion
    }
    try await write(locking: .reference) { session in
      for row in rows { try session.end(deletionOf: row.hash, at: timestamp) }
    }
    deletion?.state = .finished
    return deletion
  }

  /// A transaction of bounded size, and the files whose removal earlier ones asked for.
  private func takeStep(
    of pending: UserDeletionRow, at timestamp: Timestamp
  ) async throws -> UserDeletion {
    let database = DatabaseID(rawValue: pending.database)
    if pending.database != 0 { try await removeAssetFiles(of: database) }
    if pending.deletion.stage == .notificationIndex {
      // What waits in memory would come into the index after its rows there are gone.
      try await fileNotifications()
    }
    let locks = pending.database == 0 ? WriteLocks.reference : .reference.union(.database(database))
    return try await write(locking: locks) { session in
      let identifier = pending.deletion.identifier
      let known = try session.userDeletions().first { $0.deletion.identifier == identifier }
      guard let row = known else {
        // Another process has come to the end.
        return pending.deletion
      }
      guard row == pending, let user = row.user else { return row.deletion }
      var step = UserDeletionStep(row, of: user, at: timestamp, in: session)
      return try step.run()
    }
  }

  /// Removes the files of a database that its tables do not have any more.
  private func removeAssetFiles(of database: DatabaseID) async throws {
    while true {
      let names = try await read { try $0.disposableAssets(of: database) }
      if names.isEmpty { return }
      for name in names { try await assets.remove(name) }
      try await inEachDatabase(of: names) { try $0.forgetDisposals($1) }
    }
  }

  /// Forgets users who were deleted so long ago that no request of theirs can be under way.
  func forgetDeletedUsers(at timestamp: Timestamp) async throws {
    let horizon = timestamp.milliseconds - UserTraces.refusalMilliseconds
    let isThere = try await read {
      try $0.connection.first(
        "SELECT 1 FROM user_deletions WHERE ended < $1 LIMIT 1", [.integer(horizon)]
      ) { _ in true }
    }
    guard isThere != nil else { return }
    try await write(locking: .reference) {
      _ = try $0.connection.run(
        "DELETE FROM user_deletions WHERE ended < $1", [.integer(horizon)])
    }
  }
}

/// A row of the deletions that are under way.
struct UserDeletionRow: Sendable, Equatable {
  var hash: [UInt8]
  /// The user record name; nil when the account is gone.
  var user: String?
  var deletion: UserDeletion
  /// Where the stage is: the number of a database, or 0 before the first.
  var database: Int64
  /// How far it is there.
  var position: Int64

  fileprivate static func identifier(for hash: [UInt8]) -> String {
    SQLValue.hexadecimal(Array(hash.prefix(8)))
  }
}

extension StoreSession {
  fileprivate static func hash(of userRecordName: String) -> [UInt8] {
    SHA256.hash(Array(userRecordName.utf8))
  }

  /// Whether the user is being deleted, or was lately.
  ///
  /// - Complexity: O(1) once the schema's version was seen.
  func isDeleted(_ userRecordName: String) throws -> Bool {
    let deleted: Set<[UInt8]>
    if let known = catalog.deletedUsers {
      deleted = known
    } else {
      deleted = Set(
        try connection.rows("SELECT user_hash FROM user_deletions", []) { $0.bytes(0) })
      catalog.deletedUsers = deleted
    }
    return !deleted.isEmpty && deleted.contains(Self.hash(of: userRecordName))
  }

  /// - Throws: ``StoreError/Code/userDeleted``.
  func refuseDeleted(_ userRecordName: String) throws {
    guard try isDeleted(userRecordName) else { return }
    throw StoreError(
      .userDeleted, "the user is being deleted, or was, so that nothing can be written any more")
  }

  fileprivate func userDeletions() throws -> [UserDeletionRow] {
    try connection.rows(
      """
      SELECT user_hash, user_deletions.user_record_name, public_records, stage, database_number,
        position, done, began, users.name
      FROM user_deletions LEFT JOIN users
        ON users.user_record_name = user_deletions.user_record_name
      WHERE ended IS NULL ORDER BY began, user_hash
      """, []
    ) { row in
      guard let publicRecords = UserDeletion.PublicRecords(rawValue: row.text(2)),
        let stage = UserDeletion.Stage(rawValue: row.integer(3))
      else { throw StoreError(.corrupt, "a deletion of a user is in an unknown state") }
      return UserDeletionRow(
        hash: row.bytes(0), user: row.optionalText(1),
        deletion: UserDeletion(
          identifier: UserDeletionRow.identifier(for: row.bytes(0)), name: row.optionalText(8),
          userRecordName: row.optionalText(1),
          publicRecords: publicRecords, stage: stage, done: Int(row.integer(6)),
          began: Timestamp(milliseconds: row.integer(7))),
        database: row.integer(4), position: row.integer(5))
    }
  }

  fileprivate func add(_ deletion: UserDeletion, of userRecordName: String) throws {
    try connection.run(
      """
      INSERT INTO user_deletions (user_hash, user_record_name, public_records, stage,
        database_number, position, done, began, ended)
      VALUES ($1, $2, $3, $4, 0, 0, 0, $5, NULL)
      """,
      [
        .bytes(Self.hash(of: userRecordName)), .text(userRecordName),
        .text(deletion.publicRecords.rawValue), .integer(deletion.stage.rawValue),
        .integer(deletion.began.milliseconds),
      ])
  }

  func keep(_ row: UserDeletionRow) throws {
    try connection.run(
      """
      UPDATE user_deletions SET user_record_name = $2, stage = $3, database_number = $4,
        position = $5, done = $6
      WHERE user_hash = $1
      """,
      [
        .bytes(row.hash), SQLValue(row.user), .integer(row.deletion.stage.rawValue),
        .integer(row.database), .integer(row.position), .integer(Int64(row.deletion.done)),
      ])
  }

  fileprivate func end(deletionOf hash: [UInt8], at timestamp: Timestamp) throws {
    try connection.run(
      "UPDATE user_deletions SET ended = $2 WHERE user_hash = $1 AND ended IS NULL",
      [.bytes(hash), .integer(timestamp.milliseconds)])
  }

  /// Takes everything by which the user, or the user's devices and programs, reach the server.
  fileprivate func endAccess(
    of user: User, at timestamp: Timestamp, ordering orders: inout [DeliveryOrder]
  ) throws {
    let name = user.userRecordName
    _ = try endSessions(of: name, everywhere: true, at: timestamp, ordering: &orders)
    for kind in [DeviceToken.Kind.apns, .webhook] {
      try DeviceTable(session: self)
        .removeAll(of: name, kind: kind, at: timestamp, ordering: &orders)
    }
    for statement in [
      "DELETE FROM user_passwords WHERE user_record_name = $1",
      "DELETE FROM role_members WHERE user_record_name = $1",
      "DELETE FROM application_permissions WHERE user_record_name = $1",
    ] {
      try connection.run(statement, [.text(name)])
    }
  }
}
