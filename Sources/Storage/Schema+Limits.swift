import CloudKitModel

extension Schema {
  /// Why an entry of the notification log has no deliveries to some devices (``UnsentDeliveries``; null
  /// where it has all), and the bytes of its content, by which a user's log is trimmed. Entries of
  /// before count no bytes.
  static let limits = [
    "ALTER TABLE notification_log ADD COLUMN unsent BIGINT",
    "ALTER TABLE notification_index ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0",
  ]

  /// Counts the bytes of public databases (`databases.stored_bytes`), as those of private ones are.
  @Sendable static func fillPublicBytes(_ connection: any SQLConnection) throws {
    let databases = try connection.rows(
      "SELECT database_id FROM databases WHERE scope = $1",
      [.integer(Int64(DatabaseScope.public.rawValue))]
    ) { $0.integer(0) }
    for database in databases {
      // Each by itself: databases may be on several nodes.
      let bytes = try [
        "SELECT CAST(COALESCE(SUM(LENGTH(content)), 0) AS BIGINT) FROM records WHERE database_id = $1",
        """
        SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM assets
        WHERE database_id = $1 AND released IS NULL
        """,
      ].reduce(into: Int64(0)) { bytes, statement in
        bytes += try connection.first(statement, [.integer(database)]) { $0.integer(0) } ?? 0
      }
      try connection.run(
        "UPDATE databases SET stored_bytes = $2 WHERE database_id = $1",
        [.integer(database), .integer(bytes)])
    }
  }
}
