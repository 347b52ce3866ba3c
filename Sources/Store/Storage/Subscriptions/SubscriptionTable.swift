import CloudKitModel
import SQLEngine
import StoreModel

/// The subscriptions of users, and their tombstones: rows of deletions, for servers that keep
/// subscriptions in memory. ``SubscriptionTable/changes(in:since:limit:)`` reads both by the
/// subscription version of the database.
struct SubscriptionTable: Table {
  let transaction: StoreTransaction

  /// `first_version` is the subscription version of the first save, `version` that of the last save
  /// or of the deletion.
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
      sql.ofSubscriber, [.id(database), .text(subscriber)]
    ) { try Subscription(row: $0.bytes(1), named: $0.text(0)) }
  }

  func storedSubscriptions(
    of subscriber: String, in database: DatabaseID
  ) throws -> [StoredSubscription] {
    try connection.rows(sql.stored, [.id(database), .text(subscriber)]) {
      StoredSubscription(
        subscriber: subscriber, subscription: try Subscription(row: $0.bytes(1), named: $0.text(0)),
        version: $0.integer(2))
    }
  }

  func subscriptions(
    of subscriber: String, but subscriptionID: String, in database: DatabaseID
  ) throws -> [Subscription] {
    try connection.rows(
      sql.others, [.id(database), .text(subscriber), .text(subscriptionID)]
    ) { try Subscription(row: $0.bytes(1), named: $0.text(0)) }
  }

  func count(of subscriber: String, in database: DatabaseID) throws -> Int {
    try connection.count(sql.count, [.id(database), .text(subscriber)])
  }

  func contains(_ name: SubscriptionName, in database: DatabaseID) throws -> Bool {
    try connection.exists(
      sql.exists, [.id(database), .text(name.subscriber), .text(name.subscriptionID)])
  }

  func hasAny(in database: DatabaseID) throws -> Bool {
    try connection.exists(sql.any, [.id(database)])
  }

  // MARK: Writing

  /// Replaces the user's subscription with the same ID, whose kind is returned, and deletes a
  /// tombstone of the ID. The caller has raised the database's subscription version to `version`.
  func save(
    _ subscription: Subscription, of subscriber: String, in database: DatabaseID, version: Int64
  ) throws -> Subscription.KindName? {
    let key: [SQLValue] = [
      .id(database), .text(subscriber), .text(subscription.subscriptionID),
    ]
    let former = try connection.first(sql.content, key) {
      try Subscription(
        row: $0.bytes(0), only: Subscription.kindTags, named: subscription.subscriptionID
      ).kind.name
    }
    try decide(sql.save, key + [.integer(version), .bytes(subscription.row())])
    try decide(sql.removeDeletion, key)
    return former
  }

  /// Adds a tombstone. With `expected`, deletes only an equal subscription. Returns whether it
  /// did.
  ///
  /// The comparison ignores fields of the row that only newer programs know. The caller has raised
  /// the subscription version to `version`, which locks the database's row, so no other
  /// transaction changes the subscription meanwhile.
  func delete(
    _ name: SubscriptionName, expecting expected: Subscription? = nil, in database: DatabaseID,
    version: Int64, timestamp: Timestamp
  ) throws -> Bool {
    let key: [SQLValue] = [
      .id(database), .text(name.subscriber), .text(name.subscriptionID),
    ]
    let isExpected = try connection.first(sql.content, key) { row in
      guard let expected else { return true }
      let content = row.bytes(0)
      // Compares the bytes too, because a NaN does not equal itself.
      if content == expected.row() { return true }
      return try Subscription(row: content, named: name.subscriptionID) == expected
    }
    guard isExpected == true else { return false }
    try decide(sql.delete, key)
    try decide(sql.addDeletion, key + [.integer(version), .time(timestamp)])
    return true
  }

  // MARK: Retention

  /// The newest old tombstone of each database that has any.
  func oldDeletions(before horizon: Int64) throws -> [ForgottenVersion] {
    try connection.rows(sql.oldDeletions, [.integer(horizon)], ForgottenVersion.init(row:))
  }

  /// The caller is about to delete a user's tombstones. A reader that has not read them starts
  /// from the beginning.
  func noteForgottenDeletions(of subscriber: String, in database: DatabaseID) throws {
    let newest = try connection.first(
      sql.newestDeletion, [.id(database), .text(subscriber)], ForgottenVersion.init(row:))
    guard let newest else { return }
    try DatabaseTable(transaction: transaction).note(forgottenSubscriptions: newest)
  }

  /// Deletes tombstones up to the versions, inclusive. A reader with an older position then starts
  /// from the beginning.
  func forgetDeletions(through versions: [ForgottenVersion]) throws {
    for forgotten in versions {
      try decide(sql.forgetDeletions, forgotten.arguments)
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
