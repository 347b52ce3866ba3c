/// The store's tables.
///
/// Every table that grows with the data has `database_id` first in its primary key. Numbers of one
/// database (zones, records, changes, log entries, deliveries) are all drawn from its
/// `last_number`, so each is used once. `/*clustered*/` marks tables whose rows are best kept in
/// the order of their primary key, `/*unlogged*/` those that need not outlive a crash of the engine.
enum Schema {
  static let migrations: [Migration] = [
    Migration(version: 1, statements: reference + records + subscriptions + delivery),
    Migration(version: 2, statements: notificationLog, fill: fillNotificationIDs),
    Migration(version: changeFeedsVersion, statements: changeFeeds),
    Migration(version: 4, statements: userProfiles),
    Migration(version: 5, statements: assets),
    Migration(version: 6, statements: answeredRequests),
    Migration(version: 7, statements: containerSchemas, fill: fillContainerSchemas),
    Migration(version: 8, statements: signIn),
    Migration(version: 9, statements: storedBytes),
    Migration(version: 10, statements: programCredentials),
    Migration(version: 11, statements: webSessions),
    Migration(version: 12, statements: [], fill: fillTextIndex),
    Migration(version: 13, statements: [], fill: clearUnusedSystemIndexes),
    Migration(version: 14, statements: settlement),
    Migration(version: 15, statements: notifiedUsers),
    Migration(version: notificationIndexVersion, statements: notificationIndex),
    Migration(version: 17, statements: deliveryRoutes),
    Migration(version: 18, statements: webDevices),
    Migration(version: 19, statements: changeHistory),
    Migration(version: 20, statements: adminAccess),
    Migration(version: 21, statements: dispatches),
    Migration(version: serversVersion, statements: servers, fill: fillDispatchLeases),
    Migration(version: 23, statements: sharedLimits),
    Migration(version: 24, statements: courierAnswers, isGradual: true),
    Migration(version: 25, statements: directories),
    Migration(version: 26, statements: parts),
    // Pages of files have checksums, which programs of earlier forms would not write.
    Migration(version: 27, statements: [], isOfFiles: true),
    Migration(version: clientTokensVersion, statements: [], fill: fillClientTokens),
    Migration(version: 29, statements: limits, fill: fillPublicBytes),
    Migration(version: 30, statements: [], fill: indexCreators, isGradual: true),
    Migration(version: 31, statements: deviceNumbers, fill: numberDevicesOfDeliveries),
  ]

  /// The form that a store has after all migrations.
  static var newestForm: Int64 { migrations.last?.version ?? 0 }

  /// Refuses a store of a form that this program does not know.
  ///
  /// - Parameter place: where the store is, as in "the store at …".
  static func checkIsKnown(_ form: Int64, at place: String) throws {
    guard form <= newestForm else {
      throw StoreError(
        .newerSchema,
        "the store at \(place) has form \(form), written by a newer Petrel; this one knows forms up to "
          + "\(newestForm). Use the newer program")
    }
  }

  /// Small tables that every node knows.
  private static let reference = [
    "CREATE TABLE counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL)",
    """
    INSERT INTO counters (name, value)
    VALUES ('database', 0), ('record_type', 0), ('record_field', 0)
    """,
    """
    CREATE TABLE databases (
      database_id BIGINT PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
      scope BIGINT NOT NULL, owner TEXT NOT NULL, last_number BIGINT NOT NULL,
      subscription_version BIGINT NOT NULL, forgotten_version BIGINT NOT NULL,
      UNIQUE (container, environment, scope, owner))
    """,
    """
    CREATE TABLE users (
      name TEXT PRIMARY KEY, user_record_name TEXT NOT NULL UNIQUE, created BIGINT NOT NULL)
    """,
    """
    CREATE TABLE web_auth_tokens (
      hash BYTEA PRIMARY KEY, user_record_name TEXT NOT NULL, created BIGINT NOT NULL,
      expires BIGINT NOT NULL)
    """,
    """
    CREATE TABLE record_types (
      type_number BIGINT PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
      name TEXT NOT NULL, UNIQUE (container, environment, name))
    """,
    """
    CREATE TABLE record_fields (
      field_number BIGINT PRIMARY KEY, type_number BIGINT NOT NULL, name TEXT NOT NULL,
      value_type TEXT NOT NULL, UNIQUE (type_number, name))
    """,
  ]

  private static let records = [
    """
    CREATE TABLE zones (
      database_id BIGINT NOT NULL, zone_number BIGINT NOT NULL, zone_name TEXT NOT NULL,
      owner_name TEXT NOT NULL, version BIGINT NOT NULL,
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
      type_number BIGINT NOT NULL, version BIGINT NOT NULL,
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

  /// How far the firings of a change are settled that are too many for one transaction: the last
  /// subscription in the order of subscribers and IDs. And an index that gives a user's devices in
  /// order: an engine that has to sort them may rather walk all devices. Notification IDs are found
  /// in the index by subscriber; one more index changed one more page with each notification.
  private static let settlement = [
    "DROP INDEX notification_log_by_id",
    "DROP INDEX device_tokens_by_user",
    "CREATE INDEX device_tokens_by_user ON device_tokens (user_record_name, kind, token)",
    "ALTER TABLE outbox ADD COLUMN settled_subscriber TEXT",
    "ALTER TABLE outbox ADD COLUMN settled_subscription TEXT",
  ]

  private static let delivery = [
    """
    CREATE TABLE outbox (
      database_id BIGINT NOT NULL, sequence BIGINT NOT NULL,
      subscription_version BIGINT NOT NULL, content BYTEA NOT NULL,
      PRIMARY KEY (database_id, sequence)) /*clustered*/
    """,
    """
    CREATE TABLE notification_log (
      database_id BIGINT NOT NULL, sequence BIGINT NOT NULL, subscriber TEXT NOT NULL,
      origin_device TEXT, logged BIGINT NOT NULL, content BYTEA NOT NULL,
      PRIMARY KEY (database_id, sequence)) /*clustered*/
    """,
    """
    CREATE INDEX notification_log_by_subscriber
    ON notification_log (database_id, subscriber, sequence, logged)
    """,
    """
    CREATE TABLE subscriber_databases (
      database_id BIGINT NOT NULL, subscriber TEXT NOT NULL,
      PRIMARY KEY (database_id, subscriber))
    """,
    "CREATE INDEX databases_of_subscriber ON subscriber_databases (subscriber)",
    """
    CREATE TABLE device_tokens (
      kind TEXT NOT NULL, token TEXT NOT NULL, container TEXT NOT NULL,
      environment TEXT NOT NULL, apns_environment TEXT NOT NULL, user_record_name TEXT NOT NULL,
      device_id TEXT, registered BIGINT NOT NULL, expires BIGINT, badge BIGINT NOT NULL,
      PRIMARY KEY (kind, token))
    """,
    "CREATE INDEX device_tokens_by_user ON device_tokens (user_record_name)",
    """
    CREATE TABLE deliveries (
      database_id BIGINT NOT NULL, number BIGINT NOT NULL, log_sequence BIGINT NOT NULL,
      token TEXT NOT NULL, badge BIGINT, due BIGINT NOT NULL, attempts BIGINT NOT NULL,
      state BIGINT NOT NULL, reason TEXT, updated BIGINT NOT NULL,
      PRIMARY KEY (database_id, number)) /*clustered*/
    """,
    """
    CREATE INDEX deliveries_due ON deliveries (due, database_id, number) WHERE state = 0
    """,
    "CREATE INDEX deliveries_owed_to_token ON deliveries (token) WHERE state = 0",
    """
    CREATE TABLE courier_cursors (
      database_id BIGINT NOT NULL, token TEXT NOT NULL, sequence BIGINT NOT NULL,
      PRIMARY KEY (database_id, token))
    """,
  ]
}
