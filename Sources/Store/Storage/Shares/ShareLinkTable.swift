import SQLEngine
import StoreModel

/// The links of shares: the identifiers in their URLs, which the protocol calls short GUIDs.
///
/// A link belongs to a root record or a zone, so it stays the same when sharing ends and begins
/// again. A participant without an identity has a link for a single use.
///
/// The text of a link is sealed (``TokenCipher``). It has the numbers of the database and the
/// link, so the server finds the share without a table of all links.
struct ShareLinkTable: Table {
  let transaction: StoreTransaction

  /// The index finds the link of a root. `root_number` is 0 for a zone; `participant_id` is empty
  /// for the link of the share itself.
  static let definition = [
    """
    CREATE TABLE share_links (
      database_id BIGINT NOT NULL, link_number BIGINT NOT NULL, zone_number BIGINT NOT NULL,
      root_number BIGINT NOT NULL, participant_id TEXT NOT NULL,
      PRIMARY KEY (database_id, link_number)) /*clustered*/
    """,
    """
    CREATE INDEX share_links_by_root
    ON share_links (database_id, zone_number, root_number, participant_id)
    """,
  ]

  /// A root of nil is the zone as a whole.
  func number(
    ofRoot root: Int64?, participant: String? = nil, inZone zone: Int64, of database: DatabaseID
  ) throws -> Int64? {
    try connection.integer(
      sql.number, [.id(database), .integer(zone), .integer(root ?? 0), .text(participant ?? "")])
  }

  /// A row of the table.
  struct Link {
    var zone: Int64
    /// The root record; nil for the zone as a whole.
    var root: Int64?
    /// The only user of the link; nil for the link of a share.
    var participant: String?
  }

  func link(_ number: Int64, in database: DatabaseID) throws -> Link? {
    try connection.first(sql.link, [.id(database), .integer(number)]) { row in
      let participant = row.text(2)
      return Link(
        zone: row.integer(0), root: row.integer(1) == 0 ? nil : row.integer(1),
        participant: participant.isEmpty ? nil : participant)
    }
  }

  func add(
    _ number: Int64, ofRoot root: Int64?, participant: String? = nil, inZone zone: Int64,
    of database: DatabaseID
  ) throws {
    try decide(
      sql.add,
      [
        .id(database), .integer(number), .integer(zone), .integer(root ?? 0),
        .text(participant ?? ""),
      ])
  }

  func remove(_ number: Int64, of database: DatabaseID) throws {
    try decide(sql.remove, [.id(database), .integer(number)])
  }

  func removeAll(inZone zone: Int64, of database: DatabaseID) throws {
    try decide(sql.removeAll, [.id(database), .integer(zone)])
  }

  func shortGUID(of link: Int64, in database: DatabaseID) throws -> String {
    try transaction.context.tokens.shareLink(link, in: database)
  }

  struct Statements {
    let number: Statement = """
      SELECT link_number FROM share_links
      WHERE database_id = $1 AND zone_number = $2 AND root_number = $3 AND participant_id = $4
      LIMIT 1
      """
    let link: Statement = """
      SELECT zone_number, root_number, participant_id FROM share_links
      WHERE database_id = $1 AND link_number = $2
      """
    let add: Statement = """
      INSERT INTO share_links (database_id, link_number, zone_number, root_number, participant_id)
      VALUES ($1, $2, $3, $4, $5)
      """
    let remove: Statement = "DELETE FROM share_links WHERE database_id = $1 AND link_number = $2"
    let removeAll: Statement = "DELETE FROM share_links WHERE database_id = $1 AND zone_number = $2"
  }
  static let sql = Statements()
}
