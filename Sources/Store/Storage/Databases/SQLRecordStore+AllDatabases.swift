import CloudKitModel
import SQLEngine
import StoreModel

// The statements that look at more than one database. Everything else names its database; on a
// store that is distributed by database these ask every shard.
extension SQLRecordStore {
  public func undispatchedDatabases() async throws -> [DatabaseID] {
    if isDistributed {
      return try await read { session in
        try OutboxTable(session: session).databases()
          .filter { try session.hasUndispatchedChanges(in: $0) }
      }
    }
    return try await read { try OutboxTable(session: $0).undispatchedDatabases() }
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
