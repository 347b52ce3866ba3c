import SQLEngine
import StoreModel

/// The announcements between servers: the users who have new notifications in the log. The table is
/// empty on an engine for one server.
///
/// A server that waits for a user's notifications reads the log when it learns of an announcement.
/// PostgreSQL's `NOTIFY` is faster but may lose messages, so the table has them as well.
struct AnnouncementTable {
  let transaction: StoreTransaction

  private var connection: any SQLConnection { transaction.connection }

  /// `server_id` and `number` name an announcement: the number counts in one process. `made` is the
  /// time of the statement by the store's clock, in milliseconds since 1970. `subscribers` has a
  /// user record name on each line, or is empty for all users.
  static let definition = [
    """
    CREATE TABLE announcements (
      server_id BIGINT NOT NULL, number BIGINT NOT NULL, made BIGINT NOT NULL,
      subscribers TEXT NOT NULL, PRIMARY KEY (server_id, number))
    """,
    "CREATE INDEX announcements_by_time ON announcements (made)",
  ]

  /// The most milliseconds assumed between a statement's timestamp and its commit. A reader looks
  /// back by this time, to find announcements that were committed late.
  private static let commitTime: Int64 = 5_000
  /// How long announcements are kept, in milliseconds.
  ///
  /// The time exceeds ``commitTime``, so that each server can read an announcement before it is
  /// deleted.
  private static let keptTime: Int64 = 60_000

  /// Stores an announcement. A repeat with the same name changes nothing.
  ///
  /// - Parameter subscribers: the users' record names, one a line; empty for all users.
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
  ///
  /// Announcements are recognised by their names, because the range of a reading overlaps that of
  /// the one before.
  ///
  /// - Complexity: O(*n*) for the announcements of the last seconds (``commitTime``) and later
  ///   ones.
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

  /// Deletes a server's announcements that are older than ``keptTime``.
  func trim(of server: ServerID) throws {
    try connection.run(
      "DELETE FROM announcements WHERE server_id = $1 AND made < \(StoreClock.expression) - $2",
      [.integer(server.rawValue), .integer(Self.keptTime)])
  }

  /// Deletes all announcements of a server that is gone.
  func remove(of server: ServerID) throws {
    try connection.run(
      "DELETE FROM announcements WHERE server_id = $1", [.integer(server.rawValue)])
  }
}
