import CloudKitModel
import SQLEngine
import StoreModel

// The statements that look at more than one database. Everything else names its database; on a
// store that is distributed by database these ask every shard.
extension SQLRecordStore {
  public func undispatchedDatabases() async throws -> [DatabaseID] {
    if isDistributed {
      return try await read { session in
        try session.connection.rows(
          "SELECT database_id FROM outbox GROUP BY database_id ORDER BY database_id", []
        ) { DatabaseID(rawValue: $0.integer(0)) }
        .filter { try session.hasUndispatchedChanges(in: $0) }
      }
    }
    // From each database of the outbox to the next, past the changes that are there.
    return try await read {
      try $0.connection.rows(
        """
        WITH RECURSIVE changed (database_id) AS (
          SELECT MIN(database_id) FROM outbox
          UNION ALL
          SELECT (
            SELECT MIN(outbox.database_id) FROM outbox
            WHERE outbox.database_id > changed.database_id)
          FROM changed WHERE changed.database_id IS NOT NULL)
        SELECT database_id FROM changed
        WHERE database_id IS NOT NULL
          AND (SELECT MAX(sequence) FROM outbox WHERE outbox.database_id = changed.database_id)
            > COALESCE((
              SELECT CASE WHEN settled_subscriber IS NULL THEN through ELSE through - 1 END
              FROM dispatches WHERE dispatches.database_id = changed.database_id
              ORDER BY through DESC LIMIT 1), -1)
        """, []
      ) { DatabaseID(rawValue: $0.integer(0)) }
    }
  }

  public func dueDeliveries(at timestamp: Timestamp, limit: Int) async throws -> [Delivery] {
    try await read { session in
      let rows = try session.connection.rows(
        """
        \(DeliveryRow.selection)
        WHERE deliveries.state = 0 AND deliveries.due <= $1
        ORDER BY deliveries.due, deliveries.database_id, deliveries.number LIMIT $2
        """,
        [.integer(timestamp.milliseconds), .integer(Int64(max(0, limit)))], DeliveryRow.init)
      return try rows.compactMap { try $0.delivery(in: session) }
    }
  }

  public func nextDeliveryTime(
    on route: DeliveryRoute.ID, after timestamp: Timestamp, for holder: Int64
  ) async throws -> Timestamp? {
    try await read {
      try $0.connection.first(
        """
        SELECT due FROM deliveries WHERE state = 0 AND route = $1 AND due > $2
          AND \(DeliveryClaim.isAvailable(to: "$3"))
        ORDER BY due LIMIT 1
        """,
        [.integer(route.rawValue), .integer(timestamp.milliseconds), .integer(holder)]
      ) { Timestamp(milliseconds: $0.integer(0)) }
    }
  }

  public func deliveryRoutes() async throws -> [DeliveryRoute.ID: DeliveryRoute] {
    try await read { session in
      var routes: [DeliveryRoute.ID: DeliveryRoute] = [:]
      try session.connection.query(
        "SELECT route, kind, container, apns_environment FROM push_routes", []
      ) { row in
        guard let kind = DeviceToken.Kind(rawValue: row.text(1)),
          let environment = APNsEnvironment(rawValue: row.text(3))
        else { throw StoreError(.corrupt, "route \(row.integer(0)) has unknown attributes") }
        routes[DeliveryRoute.ID(rawValue: row.integer(0))] = DeliveryRoute(
          kind: kind, container: row.text(2), apnsEnvironment: environment)
      }
      return routes
    }
  }

  public func refusedPushes(limit: Int) async throws -> [RefusedPush] {
    try await read {
      try $0.connection.rows(
        """
        SELECT refused_pushes.database_id, refused_pushes.number, refused, reason, payload
        FROM refused_pushes JOIN deliveries
          ON deliveries.database_id = refused_pushes.database_id
          AND deliveries.number = refused_pushes.number
        ORDER BY refused DESC, refused_pushes.database_id, refused_pushes.number DESC LIMIT $1
        """, [.integer(Int64(max(0, limit)))]
      ) { row in
        RefusedPush(
          id: Delivery.ID(
            database: DatabaseID(rawValue: row.integer(0)), number: row.integer(1)),
          refused: Timestamp(milliseconds: row.integer(2)), reason: row.text(3),
          payload: row.bytes(4))
      }
    }
  }

  public func owedDeliveryCount() async throws -> Int {
    try await read {
      try $0.connection.first("SELECT COUNT(*) FROM deliveries WHERE state = 0", []) {
        Int($0.integer(0))
      } ?? 0
    }
  }
}

extension StoreSession {
  /// The databases of the recipient's container in which the user has ever had subscriptions, and so
  /// may have been notified.
  ///
  /// - Complexity: O(*d* log *n*) for *d* databases of all containers.
  func notifiedDatabases(of recipient: Recipient) throws -> [NotifiedDatabase] {
    try databases(ofSubscriber: recipient.userRecordName).compactMap { database in
      let number = SQLValue.integer(database.rawValue)
      let lastNumber = try connection.first(
        """
        SELECT last_number FROM databases
        WHERE database_id = $1 AND container = $2 AND environment = $3
        """, [number, .text(recipient.container), .text(recipient.environment.rawValue)]
      ) { $0.integer(0) }
      guard let lastNumber else { return nil }
      let trimmedThrough = try connection.first(
        "SELECT trimmed_through FROM trimmed_logs WHERE database_id = $1 AND subscriber = $2",
        [number, .text(recipient.userRecordName)]
      ) { $0.integer(0) }
      return NotifiedDatabase(
        id: database, trimmedThrough: trimmedThrough ?? 0, lastNumber: lastNumber)
    }
  }

  /// The databases of all containers in which a user has ever had subscriptions, in the order of their
  /// numbers.
  func databases(ofSubscriber subscriber: String) throws -> [DatabaseID] {
    try connection.rows(
      "SELECT number FROM subscriber_databases WHERE subscriber = $1 ORDER BY number",
      [.text(subscriber)]
    ) { DatabaseID(rawValue: $0.integer(0)) }
  }
}
