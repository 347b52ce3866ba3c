extension Schema {
  /// Databases, and what is looked up before the database is known that it lies in: the number of the
  /// database at an address, and the databases in which a user has ever had subscriptions. Every node of a
  /// distributed store has these tables whole, but for `databases`, whose rows are distributed by their
  /// number as those of all tables that grow with the data, and which has no other key for that.
  ///
  /// `stored_bytes` counts the records and assets of a database.
  static let directories = [
    """
    CREATE TABLE databases (
      database_id BIGINT PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
      scope BIGINT NOT NULL, owner TEXT NOT NULL, last_number BIGINT NOT NULL,
      subscription_version BIGINT NOT NULL, forgotten_version BIGINT NOT NULL,
      trimmed_version BIGINT NOT NULL DEFAULT 0, stored_bytes BIGINT NOT NULL DEFAULT 0)
    """,
    """
    CREATE TABLE database_addresses (
      container TEXT NOT NULL, environment TEXT NOT NULL, scope BIGINT NOT NULL,
      owner TEXT NOT NULL, number BIGINT NOT NULL,
      PRIMARY KEY (container, environment, scope, owner))
    """,
    "CREATE UNIQUE INDEX database_addresses_by_number ON database_addresses (number)",
    """
    CREATE TABLE subscriber_databases (
      subscriber TEXT NOT NULL, number BIGINT NOT NULL,
      PRIMARY KEY (subscriber, number)) /*clustered*/
    """,
    // Has a row where the store is distributed.
    "CREATE TABLE store_shards (shard_count BIGINT PRIMARY KEY)",
  ]
}
