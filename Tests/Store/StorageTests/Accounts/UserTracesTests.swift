import SQLEngine
import Testing

@testable import Storage

struct UserTracesTests {
  @Test("every table of the schema is known to the deletion of users, by its right key")
  func complete() async throws {
    let store = try await Store.inMemory()
    try await store.transactions.read { transaction in
      let databaseTables = Set(UserTraces.databaseTables.map(\.name))
      let accounts = Set(UserTraces.accountColumns.map(\.table))
      let known =
        databaseTables.union(accounts).union(UserTraces.assetTables)
        .union(UserTraces.databaseDirectories).union(UserTraces.otherTables)
        .union(UserTraces.tablesWithoutTraces.keys)
      #expect(Set(try SQLTable.names(transaction.connection)) == known)
      let naming: Set = [
        "user_record_name", "subscriber", "requester", "owner", "user_hash", "token",
      ]
      for name in try SQLTable.names(transaction.connection) where name != "schema_version" {
        let table = try SQLTable(named: name, in: transaction.connection)
        let columns = Set(table.columns.map(\.name))
        if UserTraces.tablesWithoutTraces[name] != nil {
          #expect(columns.isDisjoint(with: naming) || name == "server_keys", "\(name)")
        }
        if columns.contains("database_id") {
          #expect(
            databaseTables.contains(name) || UserTraces.assetTables.contains(name)
              || ["databases", "notification_index", "index_work"].contains(name), "\(name)")
        }
        if let listed = UserTraces.databaseTables.first(where: { $0.name == name }) {
          #expect(
            Set(table.key.map(\.name)) == Set(listed.key + ["database_id"]), "\(name)")
        }
        // What names a user and lies in public databases, too, is looked for there.
        let own = columns.intersection(["user_record_name", "subscriber", "requester"])
        if databaseTables.contains(name), let column = own.first,
          !["subscriptions", "notification_log"].contains(name)
        {
          #expect(
            UserTraces.publicColumns.map(\.place).contains {
              $0.table == name && $0.column == column
            }
              || UserTraces.shareColumns.contains { $0.table == name && $0.column == column },
            "\(name).\(column)")
        }
      }
    }
    await store.close()
  }
}

extension UserTraces {
  /// When a private database is deleted, the files of these rows must be removed too.
  fileprivate static let assetTables: Set = ["asset_uploads", "assets", "asset_disposals"]

  fileprivate static let databaseDirectories: Set = ["databases", "database_addresses"]

  /// Users in rows of other users' private databases, which ``UserDeletion/Stage/shares`` removes.
  fileprivate static let shareColumns: [(table: String, column: String)] = [
    ("participants", "user_record_name"), ("share_requests", "user_record_name"),
  ]

  /// Handled by code of their own, without a list of columns.
  fileprivate static let otherTables: Set = [
    "notification_index", "gone_devices", "device_numbers", "user_deletions", "containers",
  ]

  /// Tables without data of users, or with data that is deleted soon anyway: the value says which.
  fileprivate static let tablesWithoutTraces: [String: String] = [
    "counters": "numbers", "schema_version": "a number", "store_shards": "a number",
    "secrets": "the server's", "admin_keys": "the operators'", "console_sessions": "the operators'",
    "api_tokens": "the containers'", "server_keys": "the containers'",
    "taken_signatures": "of server-to-server keys",
    "record_types": "schemas", "record_fields": "schemas", "system_field_indexes": "schemas",
    "record_type_grants": "schemas", "security_roles": "schemas",
    "subscription_types": "schemas: names of fields without values",
    "index_work": "positions of work in progress, deleted when it is done",
    "push_routes": "containers", "notification_runs": "numbers", "servers": "the servers'",
    "announcements": "messages between servers, deleted after minutes",
    "request_allowances": "hashes, deleted when a bucket is full",
    "sign_in_attempts": "hashes, deleted after a day",
  ]
}
