import CloudKitModel
import SQLEngine
import StoreModel

/// A participant of a share; the owner is not among them.
struct StoredParticipant: Equatable {
  var id: String
  /// The user record name; nil while it is not known who the participant is.
  var user: String?
  var role: ShareRole
  /// A participant who joined by a public share has the share's permission.
  var permission: SharePermission
  var joined: Int64?
  var ended: Int64?
  var details: ParticipantDetails

  /// Whether the participant sees the share after the acceptance.
  var mayRead: Bool { AccessPolicy.refusal(of: .read, as: role, with: permission) == nil }

  var acceptance: ShareAcceptance {
    if ended != nil { return .removed }
    return joined == nil ? .pending : .accepted
  }
}

/// The participants of shares.
///
/// The row of a participant who had joined stays after the removal: it shows the change feed which
/// records the participant has to delete.
struct ParticipantTable: ShareUserTable {
  let transaction: StoreTransaction

  /// The index finds the rows of a user.
  ///
  /// - `root_number` is that of the share, for the time after its end.
  /// - `role` and `permission` are the cases' places in `allCases`.
  /// - `joined` and `ended` are numbers of changes, 0 for none.
  /// - `content` has the ``ParticipantDetails``.
  static let definition = [
    """
    CREATE TABLE participants (
      database_id BIGINT NOT NULL, share_number BIGINT NOT NULL, participant_id TEXT NOT NULL,
      zone_number BIGINT NOT NULL, root_number BIGINT NOT NULL, user_record_name TEXT NOT NULL,
      role BIGINT NOT NULL, permission BIGINT NOT NULL, joined BIGINT NOT NULL,
      ended BIGINT NOT NULL, content BYTEA NOT NULL,
      PRIMARY KEY (database_id, share_number, participant_id)) /*clustered*/
    """,
    """
    CREATE INDEX participants_by_user
    ON participants (user_record_name, database_id, zone_number)
    """,
  ]

  // MARK: Reading

  func participants(of share: Int64, in database: DatabaseID) throws -> [StoredParticipant] {
    try connection.rows(sql.participants, [.id(database), .integer(share)], participant)
  }

  func participant(_ row: any SQLRow) throws -> StoredParticipant {
    let id = row.text(0)
    let user = row.text(1)
    let (joined, ended) = (row.integer(4), row.integer(5))
    return StoredParticipant(
      id: id, user: user.isEmpty ? nil : user, role: try Self.role(row.integer(2), of: id),
      permission: try Self.permission(row.integer(3), of: id),
      joined: joined == 0 ? nil : joined, ended: ended == 0 ? nil : ended,
      details: try ParticipantDetails(row: row.bytes(6), named: id))
  }

  static func role(_ place: Int64, of participant: String) throws -> ShareRole {
    guard let role = ShareRole.allCases.dropFirst(Int(place)).first, place >= 0 else {
      throw StoreError(.corrupt, "participant '\(participant)' has the unknown role \(place)")
    }
    return role
  }

  static func permission(_ place: Int64, of participant: String) throws -> SharePermission {
    guard let permission = SharePermission.allCases.dropFirst(Int(place)).first, place >= 0 else {
      throw StoreError(
        .corrupt, "participant '\(participant)' has the unknown permission \(place)")
    }
    return permission
  }

  // MARK: Writing

  /// Replaces a participant with the same identifier.
  func save(
    _ participant: StoredParticipant, of share: StoredShare, in database: DatabaseID
  ) throws {
    try decide(
      sql.save,
      [
        .id(database), .integer(share.number), .text(participant.id),
        .integer(share.zoneNumber), .integer(share.root ?? 0), .text(participant.user ?? ""),
        .integer(Int64(ShareRole.allCases.firstIndex(of: participant.role) ?? 0)),
        .integer(ShareTable.code(of: participant.permission)),
        .integer(participant.joined ?? 0), .integer(participant.ended ?? 0),
        .bytes(participant.details.row(reserving: 64)),
      ])
  }

  /// A user can join a public share and leave it again and again, and each reader of the share
  /// passes over the rows of ended parts.
  static let endedPartsPerUser: Int64 = 10

  /// The row of a participant who had joined stays until ``removeAll(inZone:of:)``, if it is among
  /// the newest ``endedPartsPerUser`` of the user. `version` is that of the removing change.
  func end(
    _ participant: StoredParticipant, of share: StoredShare, at version: Int64,
    timestamp: Timestamp, in database: DatabaseID
  ) throws {
    guard participant.joined != nil else {
      try decide(sql.remove, [.id(database), .integer(share.number), .text(participant.id)])
      return
    }
    var participant = participant
    participant.ended = version
    participant.details.removed = timestamp
    try save(participant, of: share, in: database)
    if let user = participant.user { try forgetOldParts(of: user, in: share, of: database) }
  }

  private func forgetOldParts(
    of user: String, in share: StoredShare, of database: DatabaseID
  ) throws {
    let oldest = try connection.integer(
      sql.oldest,
      [
        .text(user), .id(database), .integer(share.zoneNumber), .integer(share.number),
        .integer(Self.endedPartsPerUser),
      ])
    guard let oldest else { return }
    try decide(
      sql.forgetOld,
      [
        .text(user), .id(database), .integer(share.zoneNumber),
        .integer(share.number), .integer(oldest),
      ])
  }

  // MARK: The end of a zone

  func removeAll(inZone zone: Int64, of database: DatabaseID) throws {
    try decide(sql.removeAll, [.id(database), .integer(zone)])
  }

  struct Statements {
    let memberships = MembershipsStatements()
    let participants: Statement = """
      SELECT participant_id, user_record_name, role, permission, joined, ended, content
      FROM participants WHERE database_id = $1 AND share_number = $2 AND ended = 0
      ORDER BY participant_id
      """
    let save: Statement = """
      INSERT INTO participants (database_id, share_number, participant_id, zone_number,
        root_number, user_record_name, role, permission, joined, ended, content)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
      ON CONFLICT (database_id, share_number, participant_id) DO UPDATE
      SET user_record_name = excluded.user_record_name, role = excluded.role,
        permission = excluded.permission, joined = excluded.joined, ended = excluded.ended,
        content = excluded.content
      """
    let remove: Statement = """
      DELETE FROM participants
      WHERE database_id = $1 AND share_number = $2 AND participant_id = $3
      """
    let oldest: Statement = """
      SELECT ended FROM participants
      WHERE user_record_name = $1 AND database_id = $2 AND zone_number = $3 AND share_number = $4
        AND ended > 0
      ORDER BY ended DESC LIMIT 1 OFFSET $5
      """
    let forgetOld: Statement = """
      DELETE FROM participants
      WHERE user_record_name = $1 AND database_id = $2 AND zone_number = $3 AND share_number = $4
        AND ended > 0 AND ended <= $5
      """
    let ofUser = ShareUserStatements("participants")
    let removeAll: Statement =
      "DELETE FROM participants WHERE database_id = $1 AND zone_number = $2"
  }
  static let sql = Statements()
  static var ofUser: ShareUserStatements { sql.ofUser }
}
