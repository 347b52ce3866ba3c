import SQLEngine
import StoreModel

/// A user as a present or former participant of a share.
struct StoredPart {
  var share: Int64
  var participant: StoredParticipant
}

extension ParticipantTable {
  func everyone(of share: Int64, in database: DatabaseID) throws -> [String] {
    try connection.texts(sql.memberships.everyone, [.id(database), .integer(share)])
  }

  /// Present and former parts, and invitations.
  func parts(
    of user: String, inZone zone: Int64, of database: DatabaseID
  ) throws -> [StoredPart] {
    try connection.rows(
      sql.memberships.parts, [.text(user), .id(database), .integer(zone)]
    ) { StoredPart(share: $0.integer(7), participant: try participant($0)) }
  }

  /// In the order of the shares' numbers, without shares that give the user no permission.
  func memberships(
    of user: String, inZone zone: Int64, of database: DatabaseID
  ) throws -> [ZoneMembership] {
    try connection.rows(
      sql.memberships.memberships, [.text(user), .id(database), .integer(zone)]
    ) { row in
      let id = row.text(2)
      let role = try Self.role(row.integer(3), of: id)
      return ZoneMembership(
        share: row.integer(0), root: row.integer(1) == 0 ? nil : row.integer(1),
        participantID: id, role: role,
        permission: try Self.permission(row.integer(role == .publicUser ? 6 : 4), of: id),
        joined: row.integer(5))
    }.filter(\.mayRead)
  }

  func latestChange(of user: String, inZone zone: Int64, of database: DatabaseID) throws -> Int64 {
    try connection.rows(
      sql.memberships.latestChange, [.text(user), .id(database), .integer(zone)]
    ) { max($0.integer(0), $0.integer(1)) }.max() ?? 0
  }

  func users(
    of share: Int64, in database: DatabaseID
  ) throws -> [(user: String, joined: Int64)] {
    try participants(of: share, in: database).compactMap { participant in
      guard let user = participant.user, let joined = participant.joined, participant.mayRead
      else { return nil }
      return (user, joined)
    }
  }

  /// Each user who sees shares of a zone once, in the order of names.
  func users(inZone zone: Int64, of database: DatabaseID) throws -> [String] {
    let participants = try connection.rows(
      sql.memberships.users, [.id(database), .integer(zone)], participant)
    return Set(participants.filter(\.mayRead).compactMap(\.user)).sorted()
  }

  func someZone(of database: DatabaseID) throws -> Int64? {
    try connection.integer(sql.memberships.someZone, [.id(database)])
  }

  /// Whether a user of a share takes part in another share of the zone. The user's change feed of
  /// the zone then goes on when the share ends.
  func hasReadersOfOthers(_ share: Int64, in database: DatabaseID) throws -> Bool {
    try connection.exists(sql.memberships.readersOfOthers, [.id(database), .integer(share)])
  }

  func zones(with user: String) throws -> [(database: DatabaseID, zone: Int64)] {
    try connection.rows(sql.memberships.zones, [.text(user)]) {
      ($0.database(0), $0.integer(1))
    }
  }

  /// Finds the zones of a name in which a user has accepted a share, in all databases. The work
  /// depends on the user's own shares only, so its duration says nothing about others.
  func zones(
    with user: String, named zoneName: String
  ) throws -> [(database: DatabaseID, zone: Int64)] {
    try connection.rows(sql.memberships.zonesNamed, [.text(user), .text(zoneName)]) {
      ($0.database(0), $0.integer(1))
    }
  }

  // MARK: Lists of shares

  /// Includes invitations by the record name. The order is that of databases and numbers.
  func shares(
    with user: String, in database: DatabaseID?, after place: ShareSummary.Place, limit: Int
  ) throws -> [ShareSummary.Place] {
    guard let database else {
      return try connection.rows(
        sql.memberships.sharesAnywhere,
        [.text(user), .id(place.database), .integer(place.number), .count(limit)]
      ) { ShareSummary.Place(database: $0.database(0), number: $0.integer(1)) }
    }
    return try connection.rows(
      sql.memberships.shares, [.text(user), .id(database), .integer(place.number), .count(limit)]
    ) { ShareSummary.Place(database: database, number: $0.integer(0)) }
  }

  func counts(
    of share: Int64, in database: DatabaseID
  ) throws -> (invited: Int, accepted: Int) {
    try connection.first(sql.memberships.counts, [.id(database), .integer(share)]) {
      ($0.count(0), $0.count(1))
    } ?? (0, 0)
  }

  func counts() throws -> (invited: Int, accepted: Int) {
    try connection.first(sql.memberships.countsAnywhere, []) { ($0.count(0), $0.count(1)) }
      ?? (0, 0)
  }

  struct MembershipsStatements {
    let everyone: Statement = """
      SELECT DISTINCT user_record_name FROM participants
      WHERE database_id = $1 AND share_number = $2 AND joined > 0
      """
    let parts: Statement = """
      SELECT participant_id, user_record_name, role, permission, joined, ended, content,
        share_number
      FROM participants
      WHERE user_record_name = $1 AND database_id = $2 AND zone_number = $3
      ORDER BY share_number, participant_id
      """
    let memberships: Statement = """
      SELECT participants.share_number, participants.root_number, participants.participant_id,
        participants.role, participants.permission, participants.joined, shares.public_permission
      FROM participants
      JOIN shares ON shares.database_id = participants.database_id
        AND shares.share_number = participants.share_number
      WHERE participants.user_record_name = $1 AND participants.database_id = $2
        AND participants.zone_number = $3 AND participants.joined > 0 AND participants.ended = 0
      ORDER BY participants.share_number
      """
    let latestChange: Statement = """
      SELECT joined, ended FROM participants
      WHERE user_record_name = $1 AND database_id = $2 AND zone_number = $3
      """
    let users: Statement = """
      SELECT participant_id, user_record_name, role, permission, joined, ended, content
      FROM participants
      WHERE database_id = $1 AND zone_number = $2 AND joined > 0 AND ended = 0
      """
    let someZone: Statement = """
      SELECT zone_number FROM participants
      WHERE database_id = $1 AND joined > 0 AND ended = 0 LIMIT 1
      """
    let readersOfOthers: Statement = """
      SELECT 1 FROM participants
      JOIN participants AS others ON others.database_id = participants.database_id
        AND others.zone_number = participants.zone_number
        AND others.user_record_name = participants.user_record_name
        AND others.share_number <> participants.share_number
      WHERE participants.database_id = $1 AND participants.share_number = $2
        AND participants.joined > 0 AND others.joined > 0 AND others.ended = 0
      LIMIT 1
      """
    let zones = """
      SELECT DISTINCT database_id, zone_number FROM participants
      WHERE user_record_name = $1 AND joined > 0 AND ended = 0
      ORDER BY database_id, zone_number
      """.except(.everyDatabase)
    let zonesNamed = """
      SELECT DISTINCT participants.database_id, participants.zone_number FROM participants
      JOIN zones ON zones.database_id = participants.database_id
        AND zones.zone_number = participants.zone_number
      WHERE participants.user_record_name = $1 AND zones.zone_name = $2
        AND participants.joined > 0 AND participants.ended = 0
      """.except(.everyDatabase)
    let sharesAnywhere = """
      SELECT DISTINCT database_id, share_number FROM participants
      WHERE user_record_name = $1 AND ended = 0 AND (database_id, share_number) > ($2, $3)
      ORDER BY database_id, share_number LIMIT $4
      """.except(.everyDatabase)
    let shares: Statement = """
      SELECT DISTINCT share_number FROM participants
      WHERE user_record_name = $1 AND database_id = $2 AND ended = 0 AND share_number > $3
      ORDER BY share_number LIMIT $4
      """
    let counts: Statement = """
      SELECT COUNT(CASE WHEN joined = 0 THEN 1 END), COUNT(CASE WHEN joined > 0 THEN 1 END)
      FROM participants WHERE database_id = $1 AND share_number = $2 AND ended = 0
      """
    let countsAnywhere = """
      SELECT COUNT(CASE WHEN joined = 0 THEN 1 END), COUNT(CASE WHEN joined > 0 THEN 1 END)
      FROM participants WHERE ended = 0
      """.except([.everyDatabase, .wholeTable])
  }
}
