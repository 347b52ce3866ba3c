import SQLEngine
import StoreModel

/// The announcements between servers. An announcement names the users who have new notifications in
/// the log. The table is empty on an engine for one server.
///
/// When a server learns of an announcement, it reads the log for each of these users who has a
/// waiting request. PostgreSQL's `NOTIFY` sends announcements faster, but may lose them, so the
/// table has them too.
struct AnnouncementTable: Table {
  let transaction: StoreTransaction

  /// `server_id` is the ID of the announcing server. `number` counts the announcements of that
  /// server's process. `made` is the time of the insertion by the store's clock, in milliseconds
  /// since 1970. `subscribers` has a user record name on each line, or is empty for all users.
  static let definition = [
    """
    CREATE TABLE announcements (
      server_id BIGINT NOT NULL, number BIGINT NOT NULL, made BIGINT NOT NULL,
      subscribers TEXT NOT NULL, PRIMARY KEY (server_id, number))
    """,
    "CREATE INDEX announcements_by_time ON announcements (made)",
  ]

  /// The most milliseconds that the store assumes between the time in `made` and the commit. Each
  /// reading begins this much before the time of the reader's position, to find announcements that
  /// were committed late.
  private static let commitTime: Int64 = 5_000
  /// The time after which an announcement may be deleted, in milliseconds.
  ///
  /// The time exceeds ``commitTime``, so that each server can read an announcement before it is
  /// deleted.
  private static let keptTime: Int64 = 60_000

  /// Stores an announcement. If there is an announcement with the same name, the method changes
  /// nothing.
  ///
  /// - Parameters:
  ///   - name: the announcing server's ID and the announcement's number.
  ///   - subscribers: the users' record names, one on each line; empty for all users.
  func add(_ name: AnnouncementName, subscribers: String) throws {
    try connection.run(
      transaction.context.isDistributed ? Self.sql.add : Self.sql.addLightly,
      [.integer(name.server), .integer(name.number), .text(subscribers)])
  }

  /// Returns the announcements of other servers after a position, and the next position. A position
  /// has the time of the newest announcement that was read, and the names of the announcements from
  /// shortly before that time.
  ///
  /// If the position has no time, the method returns no announcements, and a position with the
  /// present time.
  ///
  /// The range of each reading overlaps with the range before (``commitTime``). So the method
  /// leaves out announcements whose names the position has.
  ///
  /// - Parameter server: the reading server, whose own announcements are left out.
  /// - Complexity: O(*n*) for *n* announcements that were made in the ``commitTime`` before the
  ///   position's time, or later.
  func announcements(
    after position: AnnouncementPosition, for server: ServerID
  ) throws -> (announcements: [Announcement], position: AnnouncementPosition) {
    guard let time = position.time else {
      let now = try connection.first(Self.sql.now, []) { $0.integer(0) }
      var position = position
      position.time = now
      return ([], position)
    }
    var next = AnnouncementPosition()
    next.time = time
    var announcements: [Announcement] = []
    // The range includes announcements that were made before the last reading, but were not
    // committed then.
    try connection.query(
      Self.sql.later, [.integer(time - Self.commitTime), .integer(server.rawValue)]
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
    try connection.run(Self.sql.trim, [.integer(server.rawValue), .integer(Self.keptTime)])
  }

  func remove(of server: ServerID) throws {
    try connection.run(Self.sql.removeAll, [.integer(server.rawValue)])
  }

  struct Statements {
    let add = Statement(insertion, .onPostgreSQL)
    /// The row need not be durable: after PostgreSQL has failed, the servers read the logs of all
    /// waiting users.
    let addLightly = Statement(
      insertion + " RETURNING set_config('synchronous_commit', 'off', true)", .onPostgreSQL)
    let now = "SELECT \(StoreClock.expression)".except(.onPostgreSQL)
    let later: Statement = """
      SELECT server_id, number, made, subscribers FROM announcements
      WHERE made > $1 AND server_id <> $2
      """
    let trim = """
      DELETE FROM announcements WHERE server_id = $1 AND made < \(StoreClock.expression) - $2
      """.except(.onPostgreSQL)
    let removeAll: Statement = "DELETE FROM announcements WHERE server_id = $1"
  }
  static let sql = Statements()

  private static let insertion = """
    INSERT INTO announcements (server_id, number, made, subscribers)
    VALUES ($1, $2, \(StoreClock.expression), $3) ON CONFLICT DO NOTHING
    """
}
