import SQLEngine
import StoreModel

/// The announcements between servers: each names users who have new notifications in the log. The
/// table is empty on an engine for one server.
///
/// When a server learns of an announcement, it reads the log for each of these users who has a
/// waiting request. PostgreSQL's `NOTIFY` sends announcements faster, but may lose them, so the
/// table has them too.
struct AnnouncementTable: Table {
  let transaction: StoreTransaction

  /// `number` counts the announcements of the server's process. `made` is the time of the insertion
  /// by the store's clock. `subscribers` has a user record name on each line, or is empty for all
  /// users.
  static let definition = [
    """
    CREATE TABLE announcements (
      server_id BIGINT NOT NULL, number BIGINT NOT NULL, made BIGINT NOT NULL,
      subscribers TEXT NOT NULL, PRIMARY KEY (server_id, number))
    """,
    "CREATE INDEX announcements_by_time ON announcements (made)",
  ]

  /// In milliseconds. Each reading begins this much before the reader's position, to find
  /// announcements that were committed late.
  private static let commitTime: Int64 = 5_000
  /// Exceeds ``commitTime``, so that each server can read an announcement before it is deleted.
  private static let keptTime: Int64 = 60_000

  /// Stores an announcement, unless there is one with the same name.
  func add(_ name: AnnouncementName, subscribers: String) throws {
    try connection.run(
      transaction.context.isDistributed ? sql.add : sql.addLightly,
      [.integer(name.server), .integer(name.number), .text(subscribers)])
  }

  /// Returns the announcements of other servers after a position, and the next position. A position
  /// without a time gets no announcements, and the present time.
  ///
  /// A position also has the names of the announcements from shortly before its time. The ranges of
  /// two readings overlap (``commitTime``), and the method leaves out the names that the position
  /// has.
  /// - Complexity: O(*n*) for *n* announcements that were made in the ``commitTime`` before the
  ///   position's time, or later.
  func announcements(
    after position: AnnouncementPosition, for server: ServerID
  ) throws -> (announcements: [Announcement], position: AnnouncementPosition) {
    guard let time = position.time else {
      let now = try connection.integer(sql.now, [])
      var position = position
      position.time = now
      return ([], position)
    }
    var next = AnnouncementPosition()
    next.time = time
    var announcements: [Announcement] = []
    try connection.query(
      sql.later, [.integer(time - Self.commitTime), .integer(server.rawValue)]
    ) { row in
      let name = AnnouncementName(server: row.integer(0), number: row.integer(1))
      next.known[name] = row.integer(2)
      next.time = max(next.time ?? time, row.integer(2))
      guard position.known[name] == nil else { return }
      announcements.append(Announcement(text: row.text(3)))
    }
    return (announcements, next)
  }

  func trim(of server: ServerID) throws {
    try connection.run(sql.trim, [.integer(server.rawValue), .integer(Self.keptTime)])
  }

  func remove(of server: ServerID) throws {
    try connection.run(sql.removeAll, [.integer(server.rawValue)])
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
