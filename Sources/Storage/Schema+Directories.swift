extension Schema {
  /// What is looked up before the database is known that it lies in: the number of the database at an
  /// address, and the databases in which a user has ever had subscriptions. Every node of a distributed
  /// store has these tables whole.
  ///
  /// With them `databases` has no other key than its number, by which its rows are distributed as those
  /// of all tables that grow with the data.
  static let directories = [
    """
    CREATE TABLE database_addresses (
      container TEXT NOT NULL, environment TEXT NOT NULL, scope BIGINT NOT NULL,
      owner TEXT NOT NULL, number BIGINT NOT NULL,
      PRIMARY KEY (container, environment, scope, owner))
    """,
    """
    INSERT INTO database_addresses (container, environment, scope, owner, number)
    SELECT container, environment, scope, owner, database_id FROM databases
    """,
    "CREATE UNIQUE INDEX database_addresses_by_number ON database_addresses (number)",
    """
    CREATE TABLE numbered_databases (
      database_id BIGINT PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
      scope BIGINT NOT NULL, owner TEXT NOT NULL, last_number BIGINT NOT NULL,
      subscription_version BIGINT NOT NULL, forgotten_version BIGINT NOT NULL,
      trimmed_version BIGINT NOT NULL DEFAULT 0, stored_bytes BIGINT NOT NULL DEFAULT 0)
    """,
    """
    INSERT INTO numbered_databases (database_id, container, environment, scope, owner, last_number,
      subscription_version, forgotten_version, trimmed_version, stored_bytes)
    SELECT database_id, container, environment, scope, owner, last_number, subscription_version,
      forgotten_version, trimmed_version, stored_bytes
    FROM databases
    """,
    "DROP TABLE databases",
    "ALTER TABLE numbered_databases RENAME TO databases",
    """
    CREATE TABLE subscriber_databases (
      subscriber TEXT NOT NULL, number BIGINT NOT NULL,
      PRIMARY KEY (subscriber, number)) /*clustered*/
    """,
    """
    INSERT INTO subscriber_databases (subscriber, number)
    SELECT subscriber, database_id FROM subscriptions
    UNION SELECT subscriber, database_id FROM notification_log
    UNION SELECT subscriber, database_id FROM trimmed_logs
    """,
    "DROP INDEX databases_of_subscriber",
    // Has a row where the store is distributed.
    "CREATE TABLE store_shards (shard_count BIGINT PRIMARY KEY)",
  ]
}
