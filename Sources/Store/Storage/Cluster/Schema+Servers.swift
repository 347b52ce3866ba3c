import SQLEngine

extension Schema {
  /// The servers that have the store open at the same time, and what they tell each other. On an engine for
  /// one server these tables, and `dispatch_leases`, stay empty.
  static let servers = [
    """
    CREATE TABLE servers (
      server_id BIGINT PRIMARY KEY, description TEXT NOT NULL, alive_until BIGINT NOT NULL)
    """,
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
  static func makeDispatchLeases(_ connection: any SQLConnection) throws {
    guard connection.isShared else { return }
    try connection.run(
      """
      INSERT INTO dispatch_leases (database_id, holder, awaited)
      SELECT DISTINCT database_id, 0, 0 FROM outbox
      """, [])
  }
}
