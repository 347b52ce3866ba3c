import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func modifySubscriptions(
    _ operations: [SubscriptionOperation], of subscriber: String, in database: DatabaseID,
    refusesEqualContent: Bool, timestamp: Timestamp
  ) async throws -> [SubscriptionOutcome] {
    try await write(locking: .database(database)) { session in
      var modifier = try SubscriptionModifier(
        subscriber: subscriber, database: database, refusesEqualContent: refusesEqualContent,
        timestamp: timestamp, session: session)
      return try operations.map { operation in
        switch operation {
        case .save(let subscription): try modifier.save(subscription)
        case .delete(let subscriptionID): try modifier.delete(subscriptionID)
        }
      }
    }
  }

  public func subscriptions(
    of subscriber: String, in database: DatabaseID
  ) async throws -> [Subscription] {
    try await read { session in
      _ = try session.address(of: database)
      return try session.connection.rows(
        """
        SELECT content FROM subscriptions WHERE database_id = $1 AND subscriber = $2
        ORDER BY subscription_id
        """, [.integer(database.rawValue), .text(subscriber)]
      ) { try Subscription(stored: $0.bytes(0)) }
    }
  }

  public func subscriptionChanges(
    in part: DatabasePart, since position: SubscriptionPosition, limit: Int
  ) async throws -> SubscriptionChanges {
    try await read {
      try $0.subscriptionChanges(in: part, since: position, limit: max(1, limit))
    }
  }
}

extension Subscription {
  init(stored content: [UInt8]) throws {
    var decoder = try RowDecoder(content, of: "subscription")
    self = try decoder.decodeSubscription()
    try decoder.finish()
  }

  var storedContent: [UInt8] {
    var encoder = RowEncoder()
    encoder.encode(self)
    return encoder.bytes
  }
}

extension StoreSession {
  /// A database's subscription version, and that up to which deletions were forgotten.
  fileprivate func subscriptionVersion(
    of database: DatabaseID
  ) throws -> (current: Int64, forgotten: Int64) {
    let versions = try connection.first(
      """
      SELECT subscription_version, forgotten_version FROM databases WHERE database_id = $1
      """, [.integer(database.rawValue)]
    ) { (current: $0.integer(0), forgotten: $0.integer(1)) }
    guard let versions else {
      throw StoreError(.notFound, "there is no database with the number \(database.rawValue)")
    }
    return versions
  }

  fileprivate func subscriptionChanges(
    in part: DatabasePart, since position: SubscriptionPosition, limit: Int
  ) throws -> SubscriptionChanges {
    let database = part.database
    let (current, forgotten) = try subscriptionVersion(of: database)
    var changes = SubscriptionChanges(
      position: SubscriptionPosition(version: current, forgottenVersion: forgotten), saved: [],
      deleted: [], startsAnew: false, moreComing: false)
    if position.version == current, current > 0 { return changes }
    // A version that is not reached yet is from another life of the store.
    changes.startsAnew =
      position.version <= 0 || position.version > current
      || forgotten > max(position.version, position.forgottenVersion)
    let first = changes.startsAnew ? 0 : position.version
    // Who has nothing has nothing to delete.
    let tables =
      changes.startsAnew ? ["subscriptions"] : ["subscriptions", "subscription_deletions"]
    let last = try tables.reduce(current) {
      try min($0, version(ofChange: limit, in: $1, of: database, after: first) ?? current)
    }
    changes.position.version = last
    changes.moreComing = last < current
    let arguments: [SQLValue] = [.integer(database.rawValue), .integer(first), .integer(last)]
    try connection.query(
      """
      SELECT subscriber, first_version, content FROM subscriptions
      WHERE database_id = $1 AND version > $2 AND version <= $3\(part.subscriberCondition)
      ORDER BY version
      """, arguments
    ) { row in
      let content = row.bytes(2)
      changes.saved.append(
        StoredSubscription(
          subscriber: row.text(0), subscription: try Subscription(stored: content),
          version: row.integer(1)))
    }
    if changes.startsAnew { return changes }
    changes.deleted = try connection.rows(
      """
      SELECT subscriber, subscription_id FROM subscription_deletions
      WHERE database_id = $1 AND version > $2 AND version <= $3\(part.subscriberCondition)
      ORDER BY version
      """, arguments
    ) { SubscriptionName(subscriber: $0.text(0), subscriptionID: $0.text(1)) }
    return changes
  }

  /// The version of the change with this number, counted from 1, after a version; nil when there are
  /// fewer.
  private func version(
    ofChange number: Int, in table: String, of database: DatabaseID, after version: Int64
  ) throws -> Int64? {
    try connection.first(
      """
      SELECT version FROM \(table) WHERE database_id = $1 AND version > $2
      ORDER BY version LIMIT 1 OFFSET $3
      """, [.integer(database.rawValue), .integer(version), .integer(Int64(number - 1))]
    ) { $0.integer(0) }
  }

  /// Deletes a subscription and remembers that it did, if it still has the expected content.
  func deleteSubscription(
    _ name: SubscriptionName, expecting content: [UInt8]? = nil, in database: DatabaseID,
    version: Int64, timestamp: Timestamp
  ) throws -> Bool {
    let key: [SQLValue] = [
      .integer(database.rawValue), .text(name.subscriber), .text(name.subscriptionID),
    ]
    let deleted = try connection.run(
      """
      DELETE FROM subscriptions WHERE database_id = $1 AND subscriber = $2
        AND subscription_id = $3 AND content = COALESCE($4, content)
      """, key + [content.map { .bytes($0) } ?? .null])
    guard deleted == 1 else { return false }
    try connection.run(
      """
      INSERT INTO subscription_deletions
        (database_id, subscriber, subscription_id, version, deleted)
      VALUES ($1, $2, $3, $4, $5)
      """, key + [.integer(version), .integer(timestamp.milliseconds)])
    return true
  }

  /// Raises a database's subscription version by one and returns it.
  func raiseSubscriptionVersion(of database: DatabaseID) throws -> Int64 {
    try checkLock(of: database)
    let version = try connection.first(
      """
      UPDATE databases SET subscription_version = subscription_version + 1
      WHERE database_id = $1 RETURNING subscription_version
      """, [.integer(database.rawValue)]
    ) { $0.integer(0) }
    guard let version else {
      throw StoreError(.notFound, "there is no database with the number \(database.rawValue)")
    }
    return version
  }
}
