import SQLEngine
import StoreModel

/// Announcements between servers. Empty on an engine for one server.
struct AnnouncementTable {
  let transaction: StoreTransaction

  private var connection: any SQLConnection { transaction.connection }

  static let definition = [
    """
    CREATE TABLE announcements (
      server_id BIGINT NOT NULL, number BIGINT NOT NULL, made BIGINT NOT NULL,
      subscribers TEXT NOT NULL, PRIMARY KEY (server_id, number))
    """,
    "CREATE INDEX announcements_by_time ON announcements (made)",
  ]

  /// The most milliseconds assumed between a statement's timestamp and its commit.
  private static let commitTime: Int64 = 5_000
  /// How long announcements are kept, in milliseconds.
  private static let keptTime: Int64 = 60_000

  /// - Parameter subscribers: their names, one a line; empty for all users.
  func add(_ name: AnnouncementName, subscribers: String) throws {
    let statement = """
      INSERT INTO announcements (server_id, number, made, subscribers)
      VALUES ($1, $2, \(StoreClock.expression), $3) ON CONFLICT DO NOTHING
      """
    // After a loss of PostgreSQL, waiting readers check their logs, so the row need not be durable.
    let light = " RETURNING set_config('synchronous_commit', 'off', true)"
    try connection.run(
      transaction.context.isDistributed ? statement : statement + light,
      [.integer(name.server), .integer(name.number), .text(subscribers)])
  }

  /// The other servers' announcements since a position, and the position after them. A position
  /// without a time becomes the present, and nothing is read.
  func announcements(
    after position: AnnouncementPosition, for server: ServerID
  ) throws -> (announcements: [Announcement], position: AnnouncementPosition) {
    guard let time = position.time else {
      let now = try connection.first("SELECT \(StoreClock.expression)", []) { $0.integer(0) }
      var position = position
      position.time = now
      return ([], position)
    }
    var next = AnnouncementPosition()
    next.time = time
    var announcements: [Announcement] = []
    // The overlap includes announcements that were not yet committed at the last reading.
    try connection.query(
      """
      SELECT server_id, number, made, subscribers FROM announcements
      WHERE made > $1 AND server_id <> $2
      """, [.integer(time - Self.commitTime), .integer(server.rawValue)]
    ) { row in
      let name = AnnouncementName(server: row.integer(0), number: row.integer(1))
      next.known[name] = row.integer(2)
      next.time = max(next.time ?? time, row.integer(2))
      guard position.known[name] == nil else { return }
      announcements.append(Announcement(text: row.text(3)))
    }
    return (announcements, next)
  }

  /// Deletes a server's old announcements.
  func trim(of server: ServerID) throws {
    try connection.run(
      "DELETE FROM announcements WHERE server_id = $1 AND made < \(StoreClock.expression) - $2",
      [.integer(server.rawValue), .integer(Self.keptTime)])
  }

  func remove(of server: ServerID) throws {
    try connection.run(
      "DELETE FROM announcements WHERE server_id = $1", [.integer(server.rawValue)])
  }
}
