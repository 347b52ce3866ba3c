import StoreModel

/// Where the store's tables have something of a user, for the deletion of users.
///
/// Every table is named here; a test compares with the schema.
enum UserTraces {
  /// How long the hash of a deleted user is kept: longer than any request is under way.
  static let refusalMilliseconds: Int64 = 24 * 60 * 60 * 1000

  /// A table whose rows belong to databases.
  struct KeyedTable {
    var name: String
    /// The rest of the primary key, beside `database_id`.
    var key: [String]

    fileprivate init(_ name: String, _ key: String...) {
      self.name = name
      self.key = key
    }
  }

  /// Of these the rows of private databases go, whatever is in them.
  static let databaseTables: [KeyedTable] = [
    .init("value_index", "field_number", "value_key", "record_number"),
    .init("reference_edges", "zone_number", "target_name", "holder_number"),
    .init("asset_references", "checksum", "record_number", "field_name"),
    .init("records", "record_number"), .init("tombstones", "zone_number", "record_name"),
    .init("zones", "zone_number"), .init("zone_tombstones", "zone_name", "owner_name"),
    .init("client_change_tokens", "zone_number", "user_record_name", "device_id"),
    .init("answered_requests", "requester", "request_id"),
    .init("subscriptions", "subscriber", "subscription_id"),
    .init("subscription_deletions", "subscriber", "subscription_id"),
    .init("outbox", "sequence"), .init("dispatches", "through"),
    .init("dispatch_leases", "part"), .init("part_dispatches", "part"),
    .init("refused_pushes", "number"), .init("deliveries", "number"),
    .init("notification_log", "sequence"), .init("unfiled_notifications", "generation"),
    .init("notification_marks", "subscriber", "notification_id"),
    .init("trimmed_logs", "subscriber"), .init("courier_cursors", "token"),
  ]

  /// The same, where files have to be removed too.
  static let assetTables: Set = ["asset_uploads", "assets", "asset_disposals"]

  /// The databases themselves.
  static let databaseDirectories: Set = ["databases", "database_addresses"]

  /// Columns with the name of a user whose row it is, in public databases.
  static let publicColumns: [(stage: UserDeletion.Stage, table: String, column: String)] = [
    (.publicRows, "client_change_tokens", "user_record_name"),
    (.publicRows, "answered_requests", "requester"),
    (.notifications, "subscription_deletions", "subscriber"),
    (.notifications, "notification_marks", "subscriber"),
    (.notifications, "trimmed_logs", "subscriber"),
  ]

  /// Columns with the name of a user whose row it is, in tables that are no database's: of rows that let
  /// the user in or are the user's rights. They go when the deletion begins.
  static let accessColumns: [(table: String, column: String)] = [
    ("user_passwords", "user_record_name"), ("role_members", "user_record_name"),
    ("application_permissions", "user_record_name"),
  ]

  /// All such columns. The account is the last: it keeps the name from being used again.
  static let accountColumns =
    accessColumns + [
      ("user_identities", "user_record_name"), ("web_auth_tokens", "user_record_name"),
      ("device_tokens", "user_record_name"), ("subscriber_databases", "subscriber"),
      ("users", "user_record_name"),
    ]

  /// What has a step of its own beside these.
  static let otherTables: Set = [
    "notification_index", "gone_devices", "device_numbers", "user_deletions",
  ]

  /// What holds nothing of users, or nothing that outlives the steps, and why.
  static let tablesWithoutTraces: [String: String] = [
    "counters": "numbers", "schema_version": "a number", "store_shards": "a number",
    "secrets": "the server's", "admin_keys": "the operators'", "console_sessions": "the operators'",
    "api_tokens": "the containers'", "server_keys": "the containers'",
    "taken_signatures": "of server-to-server keys",
    "record_types": "schemas", "record_fields": "schemas", "system_field_indexes": "schemas",
    "record_type_grants": "schemas", "security_roles": "schemas",
    "subscription_types": "schemas: names of fields without values",
    "index_work": "the place of work that goes on, gone when that is done",
    "push_routes": "containers", "notification_runs": "numbers", "servers": "the servers'",
    "announcements": "what servers tell each other, gone after minutes",
    "request_allowances": "hashes, gone when a bucket is full",
    "sign_in_attempts": "hashes, gone after a day",
  ]
}
