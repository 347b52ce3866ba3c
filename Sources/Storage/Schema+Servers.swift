extension Schema {
  static let serversVersion: Int64 = 22

  /// The servers that have the store open at the same time, and which of them dispatches the changes of
  /// a database. On an engine for one server these tables stay empty.
  ///
  /// A row of `dispatch_leases` is there for each database that has changes to dispatch, or had some a
  /// moment ago. `awaited` is 1 when another server than its holder has committed some. What a holder
  /// has is free when it is none of the `servers`.
  static let servers = [
    """
    CREATE TABLE servers (
      server_id BIGINT PRIMARY KEY, description TEXT NOT NULL, alive_until BIGINT NOT NULL)
    """,
    "INSERT INTO counters (name, value) VALUES ('server', 0)",
    """
    CREATE TABLE dispatch_leases (
      database_id BIGINT PRIMARY KEY, holder BIGINT NOT NULL, awaited BIGINT NOT NULL)
    """,
    "CREATE INDEX dispatch_leases_by_holder ON dispatch_leases (holder, awaited)",
    """
    CREATE TABLE announcements (
      server_id BIGINT NOT NULL, number BIGINT NOT NULL, made BIGINT NOT NULL,
      subscribers TEXT NOT NULL, PRIMARY KEY (server_id, number))
    """,
    "CREATE INDEX announcements_by_time ON announcements (made)",
  ]

  /// What servers know of each other and of the nodes that have the store, which is nothing to be moved
  /// to another store.
  static let tablesOfServers: Set = [
    "servers", "dispatch_leases", "part_dispatches", "announcements", "store_shards",
  ]

  /// Makes leases that nobody holds for the databases that may have changes to dispatch.
  @Sendable
  static func fillDispatchLeases(_ connection: any SQLConnection) throws {
    guard connection is PostgreSQLConnection else { return }
    try connection.run(
      """
      INSERT INTO dispatch_leases (database_id, holder, awaited)
      SELECT DISTINCT database_id, 0, 0 FROM outbox
      """, [])
  }
}
