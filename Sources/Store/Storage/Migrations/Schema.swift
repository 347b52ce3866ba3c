import StoreModel

/// The store's tables.
///
/// Every table that grows with the data has `database_id` first in its primary key. Numbers of one
/// database (zones, records, changes, log entries, deliveries) are all drawn from its
/// `last_number`, so each is used once. `/*clustered*/` marks tables whose rows are best kept in
/// the order of their primary key, `/*unlogged*/` those that need not outlive a crash of the engine.
enum Schema {
  /// A new store is made with the first of them. Stores of earlier forms were made by programs that were
  /// never released, and are refused.
  static let migrations = [
    Migration(
      version: 34,
      statements: [
        counters, directories, UserTable.definition, ApplicationPermissionTable.definition,
        WebAuthTokenTable.definition, UserDeletionTable.definition, PasswordTable.definition,
        UserIdentityTable.definition, APITokenTable.definition, ServerKeyTable.definition,
        TakenSignatureTable.definition, AdminKeyTable.definition, ConsoleSessionTable.definition,
        records, changeFeeds,
        assets, answeredRequests, containerSchemas, subscriptions, outbox, ServerTable.definition,
        AnnouncementTable.definition, DispatchLeaseTable.definition, PartDispatchTable.definition,
        NotificationLogTable.definition, NotificationMarkTable.definition,
        NotificationIndexTable.definition, DeviceTable.definition, CourierCursorTable.definition,
        PushRouteTable.definition, DeliveryTable.definition, RefusedPushTable.definition,
        SharedLimitTable.definition,
      ].flatMap(\.self), fill: makeClientSecret)
  ]

  /// The form that a store has after all migrations.
  static var newestForm: Int64 { migrations.last?.version ?? 0 }

  /// The form of the oldest stores that this program brings on.
  static var oldestForm: Int64 { migrations.first?.version ?? 0 }

  /// Refuses a store of a form that this program does not know.
  ///
  /// - Parameter place: where the store is, as in "the store at …".
  static func checkIsKnown(_ form: Int64, at place: String) throws {
    try checkIsNotTooOld(form, at: " at \(place)")
    guard form <= newestForm else {
      throw StoreError(
        .newerSchema,
        "the store at \(place) has form \(form), written by a newer Petrel; this one knows forms up to "
          + "\(newestForm). Use the newer program")
    }
  }

  /// Refuses a store from before the first release.
  static func checkIsNotTooOld(_ form: Int64, at place: String = "") throws {
    guard form >= oldestForm else {
      throw StoreError(
        .olderSchema,
        "the store\(place) has form \(form), which Petrel had before its first release; this one knows "
          + "forms from \(oldestForm) on. Begin with an empty data directory, or use the older program"
      )
    }
  }

  /// The numbers given last, of what is numbered over all databases, and the version of the schemas.
  private static let counters = [
    "CREATE TABLE counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL)",
    """
    INSERT INTO counters (name, value)
    VALUES ('database', 0), ('record_type', 0), ('record_field', 0), ('schema', 1),
      ('push_route', 0), ('device', 0), ('server', 0)
    """,
  ]

  private static let records = [
    """
    CREATE TABLE zones (
      database_id BIGINT NOT NULL, zone_number BIGINT NOT NULL, zone_name TEXT NOT NULL,
      owner_name TEXT NOT NULL, version BIGINT NOT NULL,
      trimmed_version BIGINT NOT NULL DEFAULT 0,
      PRIMARY KEY (database_id, zone_number), UNIQUE (database_id, zone_name, owner_name))
    """,
    """
    CREATE TABLE records (
      database_id BIGINT NOT NULL, record_number BIGINT NOT NULL, zone_number BIGINT NOT NULL,
      record_name TEXT NOT NULL, type_number BIGINT NOT NULL, version BIGINT NOT NULL,
      content BYTEA NOT NULL, PRIMARY KEY (database_id, record_number)) /*clustered*/
    """,
    """
    CREATE UNIQUE INDEX records_by_name ON records (database_id, zone_number, record_name)
    """,
    """
    CREATE TABLE tombstones (
      database_id BIGINT NOT NULL, zone_number BIGINT NOT NULL, record_name TEXT NOT NULL,
      type_number BIGINT NOT NULL, version BIGINT NOT NULL, deleted BIGINT NOT NULL,
      PRIMARY KEY (database_id, zone_number, record_name)) /*clustered*/
    """,
    """
    CREATE TABLE value_index (
      database_id BIGINT NOT NULL, field_number BIGINT NOT NULL, value_key BYTEA NOT NULL,
      record_number BIGINT NOT NULL, zone_number BIGINT NOT NULL,
      PRIMARY KEY (database_id, field_number, value_key, record_number)) /*clustered*/
    """,
    """
    CREATE TABLE reference_edges (
      database_id BIGINT NOT NULL, zone_number BIGINT NOT NULL, target_name TEXT NOT NULL,
      holder_number BIGINT NOT NULL,
      PRIMARY KEY (database_id, zone_number, target_name, holder_number)) /*clustered*/
    """,
  ]

  private static let subscriptions = [
    """
    CREATE TABLE subscriptions (
      database_id BIGINT NOT NULL, subscriber TEXT NOT NULL, subscription_id TEXT NOT NULL,
      first_version BIGINT NOT NULL, version BIGINT NOT NULL, content BYTEA NOT NULL,
      PRIMARY KEY (database_id, subscriber, subscription_id))
    """,
    "CREATE INDEX subscriptions_by_version ON subscriptions (database_id, version)",
    """
    CREATE TABLE subscription_deletions (
      database_id BIGINT NOT NULL, subscriber TEXT NOT NULL, subscription_id TEXT NOT NULL,
      version BIGINT NOT NULL, deleted BIGINT NOT NULL,
      PRIMARY KEY (database_id, subscriber, subscription_id))
    """,
    """
    CREATE INDEX subscription_deletions_by_version
    ON subscription_deletions (database_id, version)
    """,
  ]
}
