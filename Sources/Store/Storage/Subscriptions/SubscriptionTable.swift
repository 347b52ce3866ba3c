import CloudKitModel
import SQLEngine
import StoreModel

/// The table of users' subscriptions, and the table of their tombstones.
///
/// A tombstone is the row that records a deletion. Servers that keep subscriptions in memory read
/// it.
///
/// ``SubscriptionTable/changes(in:since:limit:)`` uses the subscription version of the database: a
/// number that rises with each transaction that saves or deletes subscriptions.
struct SubscriptionTable: Table {
  let transaction: StoreTransaction

  /// The tables of subscriptions and of their tombstones. `first_version` is the subscription
  /// version at which the subscription was first saved. `version` is that of its last save, or of
  /// its deletion. `deleted` is in milliseconds since 1970. `content` has the subscription with its
  /// ID (``RowCodable``).
  static let definition = [
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

  // MARK: Reading

  func subscriptions(of subscriber: String, in database: DatabaseID) throws -> [Subscription] {
    try connection.rows(
      Self.sql.ofSubscriber, [.id(database), .text(subscriber)]
    ) { try Subscription(row: $0.bytes(1), named: $0.text(0)) }
  }

  func storedSubscriptions(
    of subscriber: String, in database: DatabaseID
  ) throws -> [StoredSubscription] {
    try connection.rows(Self.sql.stored, [.id(database), .text(subscriber)]) {
      StoredSubscription(
        subscriber: subscriber, subscription: try Subscription(row: $0.bytes(1), named: $0.text(0)),
        version: $0.integer(2))
    }
  }

  func subscriptions(
    of subscriber: String, but subscriptionID: String, in database: DatabaseID
  ) throws -> [Subscription] {
    try connection.rows(
      Self.sql.others, [.id(database), .text(subscriber), .text(subscriptionID)]
    ) { try Subscription(row: $0.bytes(1), named: $0.text(0)) }
  }

  func count(of subscriber: String, in database: DatabaseID) throws -> Int {
    try connection.first(
      Self.sql.count, [.id(database), .text(subscriber)]
    ) { Int($0.integer(0)) } ?? 0
  }

  func contains(_ name: SubscriptionName, in database: DatabaseID) throws -> Bool {
    try connection.first(
      Self.sql.exists, [.id(database), .text(name.subscriber), .text(name.subscriptionID)]
    ) { _ in true } ?? false
  }

  func hasAny(in database: DatabaseID) throws -> Bool {
    try connection.first(Self.sql.any, [.id(database)]) { _ in true } ?? false
  }

  // MARK: Writing

  /// Saves a subscription. It replaces the user's subscription with the same ID, and deletes a
  /// tombstone of that ID.
  ///
  /// - Parameter version: the subscription version of the database, which the caller has raised.
  /// - Returns: the kind of the replaced subscription; nil if it is new.
  func save(
    _ subscription: Subscription, of subscriber: String, in database: DatabaseID, version: Int64
  ) throws -> Subscription.KindName? {
    let key: [SQLValue] = [
      .id(database), .text(subscriber), .text(subscription.subscriptionID),
    ]
    let former = try connection.first(Self.sql.content, key) {
      try Subscription(
        row: $0.bytes(0), only: Subscription.kindTags, named: subscription.subscriptionID
      ).kind.name
    }
    try connection.run(Self.sql.save, key + [.integer(version), .bytes(subscription.row())])
    try connection.run(Self.sql.removeDeletion, key)
    return former
  }

  /// Deletes a subscription and adds its tombstone. With `expected`, it does so only if the stored
  /// subscription equals `expected`.
  ///
  /// The comparison ignores fields of the row that only newer programs know. The caller has raised
  /// the subscription version, which locks the database's row. So no other transaction changes the
  /// subscription meanwhile.
  ///
  /// - Parameters:
  ///   - expected: the content that the stored subscription must have; nil for any content.
  ///   - version: the subscription version of the database, which the caller has raised.
  ///   - timestamp: the time of the deletion.
  /// - Returns: true if the subscription was deleted; false if there is none, or if it differs from
  ///   `expected`.
  func delete(
    _ name: SubscriptionName, expecting expected: Subscription? = nil, in database: DatabaseID,
    version: Int64, timestamp: Timestamp
  ) throws -> Bool {
    let key: [SQLValue] = [
      .id(database), .text(name.subscriber), .text(name.subscriptionID),
    ]
    if let expected {
      let isExpected = try connection.first(Self.sql.content, key) { row in
        let content = row.bytes(0)
        // Compares the bytes too, because a NaN does not equal itself.
        if content == expected.row() { return true }
        return try Subscription(row: content, named: name.subscriptionID) == expected
      }
      guard isExpected == true else { return false }
    }
    let deleted = try connection.run(Self.sql.delete, key)
    guard deleted == 1 else { return false }
    try connection.run(
      Self.sql.addDeletion, key + [.integer(version), .integer(timestamp.milliseconds)])
    return true
  }

  // MARK: Retention

  /// Returns the version of the newest old tombstone, for each database that has old tombstones.
  ///
  /// - Parameter horizon: the time before which a tombstone is old, in milliseconds since 1970.
  func oldDeletions(before horizon: Int64) throws -> [ForgottenVersion] {
    try connection.rows(Self.sql.oldDeletions, [.integer(horizon)], ForgottenVersion.init(row:))
  }

  /// Records that the caller is about to delete a user's tombstones. A reader that has not read
  /// them yet then starts from the beginning.
  func noteForgottenDeletions(of subscriber: String, in database: DatabaseID) throws {
    let newest = try connection.first(
      Self.sql.newestDeletion, [.id(database), .text(subscriber)], ForgottenVersion.init(row:))
    guard let newest else { return }
    try DatabaseTable(transaction: transaction).note(forgottenSubscriptions: newest)
  }

  /// Deletes the tombstones of each database up to a version, inclusive. A reader with an older
  /// position then starts from the beginning.
  func forgetDeletions(through versions: [ForgottenVersion]) throws {
    for forgotten in versions {
      try connection.run(Self.sql.forgetDeletions, forgotten.arguments)
      try DatabaseTable(transaction: transaction).note(forgottenSubscriptions: forgotten)
    }
  }

  struct Statements {
    let history = HistoryStatements()
    let ofSubscriber: Statement = """
      SELECT subscription_id, content FROM subscriptions
      WHERE database_id = $1 AND subscriber = $2 ORDER BY subscription_id
      """
    let stored: Statement = """
      SELECT subscription_id, content, first_version FROM subscriptions
      WHERE database_id = $1 AND subscriber = $2 ORDER BY subscription_id
      """
    let others: Statement = """
      SELECT subscription_id, content FROM subscriptions
      WHERE database_id = $1 AND subscriber = $2 AND subscription_id <> $3
      ORDER BY subscription_id
      """
    let count: Statement =
      "SELECT COUNT(*) FROM subscriptions WHERE database_id = $1 AND subscriber = $2"
    let exists: Statement = """
      SELECT 1 FROM subscriptions
      WHERE database_id = $1 AND subscriber = $2 AND subscription_id = $3
      """
    let any: Statement = "SELECT 1 FROM subscriptions WHERE database_id = $1 LIMIT 1"
    let content: Statement = """
      SELECT content FROM subscriptions
      WHERE database_id = $1 AND subscriber = $2 AND subscription_id = $3
      """
    let save: Statement = """
      INSERT INTO subscriptions
        (database_id, subscriber, subscription_id, first_version, version, content)
      VALUES ($1, $2, $3, $4, $4, $5)
      ON CONFLICT (database_id, subscriber, subscription_id)
        DO UPDATE SET version = excluded.version, content = excluded.content
      """
    let removeDeletion: Statement = """
      DELETE FROM subscription_deletions
      WHERE database_id = $1 AND subscriber = $2 AND subscription_id = $3
      """
    let delete: Statement = """
      DELETE FROM subscriptions WHERE database_id = $1 AND subscriber = $2 AND subscription_id = $3
      """
    let addDeletion: Statement = """
      INSERT INTO subscription_deletions
        (database_id, subscriber, subscription_id, version, deleted)
      VALUES ($1, $2, $3, $4, $5)
      """
    let oldDeletions = """
      SELECT database_id, MAX(version) FROM subscription_deletions WHERE deleted < $1
      GROUP BY database_id
      """.except([.everyDatabase, .wholeTable])
    let newestDeletion: Statement = """
      SELECT database_id, MAX(version) FROM subscription_deletions
      WHERE database_id = $1 AND subscriber = $2 GROUP BY database_id
      """
    let forgetDeletions: Statement =
      "DELETE FROM subscription_deletions WHERE database_id = $1 AND version <= $2"
  }
  static let sql = Statements()
}
