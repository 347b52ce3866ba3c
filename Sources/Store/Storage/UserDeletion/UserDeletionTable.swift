import CloudKitModel
import Cryptography
import SQLEngine
import StoreModel

/// The users who are being deleted or were deleted recently.
///
/// A row stays, without the user's name, for ``UserTraces/refusalMilliseconds`` after the
/// deletion, so that requests under way are refused. `user_hash` is the SHA-256 of the user record
/// name. `stage`, `database_number` and `position` are the progress.
struct UserDeletionTable: Table {
  let transaction: StoreTransaction

  /// `user_record_name` is null when the account is gone. `database_number` is 0 before the first
  /// database of a stage. `done` is the number of removed rows. `ended` is null while the deletion
  /// is under way.
  static let definition = [
    """
    CREATE TABLE user_deletions (
      user_hash BYTEA PRIMARY KEY, user_record_name TEXT, public_records TEXT NOT NULL,
      stage BIGINT NOT NULL, database_number BIGINT NOT NULL, position BIGINT NOT NULL,
      done BIGINT NOT NULL, began BIGINT NOT NULL, ended BIGINT)
    """
  ]

  static func hash(of userRecordName: String) -> [UInt8] {
    SHA256.hash(Array(userRecordName.utf8))
  }

  // MARK: Refusal

  /// Also true for a user who was deleted recently. The ``Catalog`` caches the hashes; the
  /// beginning of a deletion raises the catalog version, so later transactions read them again.
  ///
  /// - Complexity: O(1) once the hashes are cached.
  func isDeleted(_ userRecordName: String) throws -> Bool {
    let deleted: Set<[UInt8]>
    if let known = transaction.catalog.deletedUsers {
      deleted = known
    } else {
      deleted = Set(try connection.rows(sql.hashes, []) { $0.bytes(0) })
      transaction.catalog.deletedUsers = deleted
    }
    return !deleted.isEmpty && deleted.contains(Self.hash(of: userRecordName))
  }

  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted, or was deleted
  ///   recently.
  func refuseDeleted(_ userRecordName: String) throws {
    guard try isDeleted(userRecordName) else { return }
    throw StoreError(
      .userDeleted,
      "the user was deleted or is being deleted; no more changes are saved for the user")
  }

  // MARK: Deletions under way

  func deletions() throws -> [UserDeletionRow] {
    try connection.rows(sql.deletions, [], UserDeletionRow.init(row:))
  }

  /// The caller raises the catalog version.
  func add(_ deletion: UserDeletion, of userRecordName: String) throws {
    try decide(
      sql.add,
      [
        .bytes(Self.hash(of: userRecordName)), .text(userRecordName),
        .text(deletion.publicRecords.rawValue), .integer(deletion.stage.rawValue),
        .time(deletion.began),
      ])
  }

  func keep(_ row: UserDeletionRow) throws {
    try decide(
      sql.keep,
      [
        .bytes(row.hash), SQLValue(row.user), .integer(row.deletion.stage.rawValue),
        .integer(row.database), .integer(row.position), .count(row.deletion.done),
      ])
  }

  func end(deletionOf hash: [UInt8], at timestamp: Timestamp) throws {
    try decide(sql.end, [.bytes(hash), .time(timestamp)])
  }

  // MARK: Retention

  func hasEnded(before horizon: Int64) throws -> Bool {
    try connection.exists(sql.ended, [.integer(horizon)])
  }

  func forget(endedBefore horizon: Int64) throws {
    try decide(sql.forget, [.integer(horizon)])
  }

  struct Statements {
    let hashes = "SELECT user_hash FROM user_deletions".except(.wholeTable)
    let deletions = """
      SELECT user_hash, user_deletions.user_record_name, public_records, stage, database_number,
        position, done, began, users.name
      FROM user_deletions LEFT JOIN users
        ON users.user_record_name = user_deletions.user_record_name
      WHERE ended IS NULL ORDER BY began, user_hash
      """.except(.wholeTable)
    let add: Statement = """
      INSERT INTO user_deletions (user_hash, user_record_name, public_records, stage,
        database_number, position, done, began, ended)
      VALUES ($1, $2, $3, $4, 0, 0, 0, $5, NULL)
      """
    let keep: Statement = """
      UPDATE user_deletions SET user_record_name = $2, stage = $3, database_number = $4,
        position = $5, done = $6
      WHERE user_hash = $1
      """
    let end: Statement =
      "UPDATE user_deletions SET ended = $2 WHERE user_hash = $1 AND ended IS NULL"
    let ended = "SELECT 1 FROM user_deletions WHERE ended < $1 LIMIT 1".except(.wholeTable)
    let forget = "DELETE FROM user_deletions WHERE ended < $1".except(.wholeTable)
  }
  static let sql = Statements()
}

/// A row of a deletion under way.
struct UserDeletionRow: Sendable, Equatable {
  var hash: [UInt8]
  var user: String?
  var deletion: UserDeletion
  var database: Int64
  /// The last number that the stage has scanned in ``database``, or that must be dispatched for
  /// the stage `dispatch`. 0 at the beginning of each database.
  var position: Int64

  /// - Throws: ``StoreError/Code/corrupt`` for an unknown stage or choice about public records.
  fileprivate init(row: any SQLRow) throws {
    guard let publicRecords = UserDeletion.PublicRecords(rawValue: row.text(2)),
      let stage = UserDeletion.Stage(rawValue: row.integer(3))
    else { throw StoreError(.corrupt, "a deletion of a user is in an unknown state") }
    hash = row.bytes(0)
    user = row.optionalText(1)
    deletion = UserDeletion(
      identifier: row.bytes(0).prefix(8).hexadecimal, name: row.optionalText(8),
      userRecordName: row.optionalText(1), publicRecords: publicRecords, stage: stage,
      done: row.count(6), began: row.time(7))
    database = row.integer(4)
    position = row.integer(5)
  }
}
