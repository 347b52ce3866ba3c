import CloudKitModel
import SQLEngine
import StoreModel

extension SubscriptionTable {
  /// Saves and deletions after a position, in the order of their versions.
  ///
  /// The limit, at least 1, applies to the saves and to the deletions of the whole database. All
  /// changes of one version are returned together, so there may be more. For a position that is
  /// not valid, the changes start anew with the first subscription, without deletions. Such a
  /// position is the beginning, one after the present version, or one before deletions whose
  /// tombstones are gone.
  func changes(
    in part: DatabasePart, since position: SubscriptionPosition, limit: Int
  ) throws -> SubscriptionChanges {
    let database = part.database
    let (current, forgotten) = try DatabaseTable(transaction: transaction).subscriptionVersion(
      of: database)
    var changes = SubscriptionChanges(
      position: SubscriptionPosition(version: current, forgottenVersion: forgotten), saved: [],
      deleted: [], startsAnew: false, moreComing: false)
    if position.version == current, current > 0 { return changes }
    // If the position is after the present version, it is from before the store was reset.
    changes.startsAnew =
      position.version <= 0 || position.version > current
      || forgotten > max(position.version, position.forgottenVersion)
    let first = changes.startsAnew ? 0 : position.version
    // A reader that has nothing needs no deletions.
    let sql = sql.history
    let versions = changes.startsAnew ? [sql.savedVersion] : [sql.savedVersion, sql.deletedVersion]
    let last = try versions.reduce(current) { last, statement in
      let version = try connection.integer(
        statement, [.id(database), .integer(first), .count(limit - 1)])
      return min(last, version ?? current)
    }
    changes.position.version = last
    changes.moreComing = last < current
    let arguments = [.id(database), .integer(first), .integer(last)] + part.division
    try connection.query(sql.saved(part), arguments) { row in
      changes.saved.append(
        StoredSubscription(
          subscriber: row.text(0),
          subscription: try Subscription(row: row.bytes(2), named: row.text(3)),
          version: row.integer(1)))
    }
    if changes.startsAnew { return changes }
    changes.deleted = try connection.rows(sql.deleted(part), arguments) {
      SubscriptionName(subscriber: $0.text(0), subscriptionID: $0.text(1))
    }
    return changes
  }

  func state(of name: SubscriptionName, in database: DatabaseID) throws -> SubscriptionState? {
    try connection.first(
      sql.history.state, [.id(database), .text(name.subscriber), .text(name.subscriptionID)],
      SubscriptionState.init(row:))
  }

  /// nil if the store has no tombstone: the subscription was not deleted, was saved again, or
  /// retention has deleted the tombstone.
  func deletion(
    of name: SubscriptionName, in database: DatabaseID
  ) throws -> SubscriptionDeletion? {
    try connection.first(
      sql.history.deletion, [.id(database), .text(name.subscriber), .text(name.subscriptionID)]
    ) { row in
      SubscriptionDeletion(version: row.integer(0), deleted: row.time(1))
    }
  }

  /// In the order of subscribers and IDs, with the versions of the first and last saves.
  ///
  /// With an ID but no subscriber, a call scans at most 50 times `limit` subscriptions. Its page
  /// may then be empty although others follow.
  func states(
    withID subscriptionID: String?, of subscriber: String?, in database: DatabaseID,
    after name: SubscriptionName?, limit: Int
  ) throws -> SubscriptionStatePage {
    let end =
      subscriptionID != nil && subscriber == nil
      ? try self.name(50 * limit, behind: name, in: database) : nil
    // For one subscriber, the condition compares only the ID. If it compared both columns, SQLite
    // would scan the whole index.
    let statement =
      subscriber != nil
      ? sql.history.ofSubscriber
      : end == nil ? sql.history.all : sql.history.allThrough
    let lastID =
      subscriber == nil || name?.subscriber == subscriber ? name?.subscriptionID : nil
    var arguments: [SQLValue] = [
      .id(database), .text(subscriber ?? name?.subscriber ?? ""),
      .text(lastID ?? ""), SQLValue(subscriptionID), .count(limit),
    ]
    if let end { arguments += [.text(end.subscriber), .text(end.subscriptionID)] }
    let states = try connection.rows(statement, arguments, SubscriptionState.init(row:))
    return SubscriptionStatePage(
      states: states, next: states.count == limit ? states.last?.stored.name : end)
  }

  private func name(
    _ count: Int, behind name: SubscriptionName?, in database: DatabaseID
  ) throws -> SubscriptionName? {
    try connection.first(
      sql.history.name,
      [
        .id(database), .text(name?.subscriber ?? ""), .text(name?.subscriptionID ?? ""),
        .count(count - 1),
      ]
    ) { SubscriptionName(subscriber: $0.text(0), subscriptionID: $0.text(1)) }
  }

  /// Returns also those that were first saved after it: they may have replaced deleted ones.
  func gone(since version: Int64, in database: DatabaseID) throws -> Set<SubscriptionName> {
    Set(
      try connection.rows(sql.history.gone, [.id(database), .integer(version)]) {
        SubscriptionName(subscriber: $0.text(0), subscriptionID: $0.text(1))
      })
  }

  struct HistoryStatements {
    let saved = PartStatement(
      """
      SELECT subscriber, first_version, content, subscription_id FROM subscriptions
      WHERE database_id = $1 AND version > $2 AND version <= $3
      """, arguments: 3, " ORDER BY version")
    let deleted = PartStatement(
      """
      SELECT subscriber, subscription_id FROM subscription_deletions
      WHERE database_id = $1 AND version > $2 AND version <= $3
      """, arguments: 3, " ORDER BY version")
    let savedVersion = version(in: "subscriptions")
    let deletedVersion = version(in: "subscription_deletions")
    let ofSubscriber = states("subscriber = $2 AND subscription_id > $3")
    let all = states("(subscriber, subscription_id) > ($2, $3)")
    let allThrough = states(
      "(subscriber, subscription_id) > ($2, $3)",
      through: " AND (subscriber, subscription_id) <= ($6, $7)")
    let state: Statement = """
      SELECT subscriber, first_version, version, content, subscription_id FROM subscriptions
      WHERE database_id = $1 AND subscriber = $2 AND subscription_id = $3
      """
    let deletion: Statement = """
      SELECT version, deleted FROM subscription_deletions
      WHERE database_id = $1 AND subscriber = $2 AND subscription_id = $3
      """
    let gone: Statement = """
      SELECT subscriber, subscription_id FROM subscription_deletions
      WHERE database_id = $1 AND version > $2
      UNION ALL
      SELECT subscriber, subscription_id FROM subscriptions
      WHERE database_id = $1 AND version > $2 AND first_version > $2
      """
    let name: Statement = """
      SELECT subscriber, subscription_id FROM subscriptions
      WHERE database_id = $1 AND (subscriber, subscription_id) > ($2, $3)
      ORDER BY subscriber, subscription_id LIMIT 1 OFFSET $4
      """
  }

  private static func version(in table: String) -> Statement {
    """
    SELECT version FROM \(table) WHERE database_id = $1 AND version > $2
    ORDER BY version LIMIT 1 OFFSET $3
    """
  }

  private static func states(_ range: String, through end: String = "") -> Statement {
    """
    SELECT subscriber, first_version, version, content, subscription_id FROM subscriptions
    WHERE database_id = $1 AND \(range) AND subscription_id = COALESCE($4, subscription_id)\(end)
    ORDER BY subscriber, subscription_id LIMIT $5
    """
  }
}

extension SubscriptionState {
  fileprivate init(row: any SQLRow) throws {
    self.init(
      stored: StoredSubscription(
        subscriber: row.text(0),
        subscription: try Subscription(row: row.bytes(3), named: row.text(4)),
        version: row.integer(1)),
      changed: row.integer(2))
  }
}
