import SQLEngine

/// The tables and columns that can have data of a user, for the deletion of users. A test compares
/// them with the schema, and names the other tables.
enum UserTraces {
  /// The time for which the hash of a deleted user is kept: longer than any request lasts.
  static let refusalMilliseconds: Int64 = 24 * 60 * 60 * 1000

  /// A table whose primary key begins with `database_id`.
  struct KeyedTable {
    var name: String
    var key: [String]
    /// Deletes at most `$2` rows of the database `$1`.
    let deletion: Statement

    fileprivate init(_ name: String, _ key: String...) {
      self.name = name
      self.key = key
      deletion = Self.deletion(from: name, key)
    }

    /// Deletes only rows whose `column` is `$3`, if there is a column.
    fileprivate static func deletion(
      from table: String, _ key: [String], where column: String? = nil
    ) -> Statement {
      let key = key.joined(separator: ", ")
      let condition = column.map { " AND \($0) = $3" } ?? ""
      return """
        DELETE FROM \(table) WHERE database_id = $1 AND (\(key)) IN (
          SELECT \(key) FROM \(table) WHERE database_id = $1\(condition) LIMIT $2)
        """
    }
  }

  /// An owner's column with the statement that deletes the rows of a user.
  typealias OwnerColumn = (table: String, column: String, deletion: Statement)

  /// Removed with a private database, whatever they contain.
  static let databaseTables: [KeyedTable] = [
    .init("value_index", "field_number", "value_key", "record_number"),
    .init("reference_edges", "zone_number", "target_name", "holder_number"),
    .init("hierarchy", "record_number"),
    .init("mounts", "zone_number"),
    .init("departures", "zone_number", "top_number", "version", "record_number"),
    .init("shares", "share_number"),
    .init("participants", "share_number", "participant_id"), .init("share_links", "link_number"),
    .init("share_requests", "share_number", "user_record_name"),
    .init("asset_references", "checksum", "record_number", "field_name"),
    .init("records", "record_number"), .init("tombstones", "zone_number", "record_name"),
    .init("zones", "zone_number"), .init("zone_tombstones", "zone_name", "owner_name"),
    .init("client_change_tokens", "zone_number", "user_record_name", "device_id"),
    .init("answered_requests", "requester", "request_id"),
    .init("subscriptions", "subscriber", "subscription_id"),
    .init("subscription_deletions", "subscriber", "subscription_id"),
    .init("outbox", "sequence"), .init("dispatches", "through"),
    .init("forwards", "source_database"),
    .init("dispatch_leases", "part"), .init("part_dispatches", "part"),
    .init("deferred_dispatches", "subscriber"),
    .init("refused_pushes", "number"), .init("deliveries", "number"),
    .init("notification_log", "sequence"), .init("unfiled_notifications", "generation"),
    .init("notification_marks", "subscriber", "notification_id"),
    .init("trimmed_logs", "subscriber"), .init("courier_cursors", "token"),
  ]

  /// Owners of rows of public databases, with the stage that removes the rows.
  static let publicColumns: [(stage: UserDeletion.Stage, place: OwnerColumn)] = [
    (.publicRows, "client_change_tokens", "user_record_name"),
    (.publicRows, "answered_requests", "requester"),
    (.notifications, "subscription_deletions", "subscriber"),
    (.notifications, "notification_marks", "subscriber"),
    (.notifications, "trimmed_logs", "subscriber"),
    (.notifications, "deferred_dispatches", "subscriber"),
  ].flatMap { (stage: UserDeletion.Stage, name: String, column: String) in
    databaseTables.filter { $0.name == name }.map { table in
      (stage, (name, column, KeyedTable.deletion(from: name, table.key, where: column)))
    }
  }

  /// Credentials and rights, which the beginning of the deletion removes.
  static let accessColumns = [
    owner("user_passwords"), owner("role_members"), owner("application_permissions"),
  ]

  /// All rows outside of databases, in the order of their deletion. The account is the last, since
  /// it reserves the user's name.
  static let accountColumns =
    accessColumns + [
      owner("user_identities"), owner("web_auth_tokens"), owner("device_tokens"),
      owner("subscriber_databases", "subscriber"), owner("users"),
    ]

  /// Some of these columns have no index.
  private static func owner(
    _ table: String, _ column: String = "user_record_name"
  ) -> OwnerColumn {
    (table, column, "DELETE FROM \(table) WHERE \(column) = $1".except(.wholeTable))
  }
}
