import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func pushes(
    in database: DatabaseID, before sequence: Int64?, limit: Int,
    where isWanted: @escaping @Sendable (LogEntry) -> Bool
  ) async throws -> PushSearch {
    try await read { session in
      let address = try DatabaseTable(session: session).address(of: database)
      let search = PiecewiseSearch(budget: PushSearch.budget, pieceSize: 200, limit: limit)
      let (found, next) = try search.walk(from: sequence ?? Int64.max) { place, count in
        try session.logEntries(of: database, at: address, before: place, limit: count)
      } place: {
        $0.sequence
      } wanted: {
        isWanted($0) ? try session.push($0) : nil
      }
      return PushSearch(found: found, next: next)
    }
  }

  public func pushes(_ sequences: [Int64], in database: DatabaseID) async throws -> [LoggedPush] {
    try await read { session in
      let address = try DatabaseTable(session: session).address(of: database)
      return try sequences.compactMap { sequence in
        try session.connection.first(
          """
          SELECT sequence, subscriber, logged, content FROM notification_log
          WHERE database_id = $1 AND sequence = $2
          """, [.integer(database.rawValue), .integer(sequence)]
        ) { try LogEntry(row: $0, database: database, address: address) }
      }.map { try session.push($0) }
    }
  }
}

extension StoreSession {
  fileprivate func logEntries(
    of database: DatabaseID, at address: DatabaseAddress, before sequence: Int64, limit: Int
  ) throws -> [LogEntry] {
    try connection.rows(
      """
      SELECT sequence, subscriber, logged, content FROM notification_log
      WHERE database_id = $1 AND sequence < $2 ORDER BY sequence DESC LIMIT $3
      """, [.integer(database.rawValue), .integer(sequence), .integer(Int64(limit))]
    ) { try LogEntry(row: $0, database: database, address: address) }
  }

  /// An entry with its deliveries. Their numbers follow the entry's in one go, up to another entry's.
  fileprivate func push(_ entry: LogEntry) throws -> LoggedPush {
    var deliveries: [LoggedPush.Delivery] = []
    let rows = try connection.rows(
      """
      SELECT number, log_sequence, COALESCE(token, ''), state, attempts, reason, updated, due, kind
      FROM deliveries LEFT JOIN push_routes ON push_routes.route = deliveries.route
        LEFT JOIN device_numbers ON device_numbers.device = deliveries.device
      WHERE database_id = $1 AND number > $2 ORDER BY number LIMIT $3
      """,
      [
        .integer(entry.database.rawValue), .integer(entry.sequence),
        .integer(Int64(PushSearch.deliveryLimit)),
      ]
    ) { row in
      guard let state = LoggedPush.Delivery.State(rawValue: row.integer(3)) else {
        throw StoreError(.corrupt, "delivery \(row.integer(0)) has an unknown state")
      }
      return (
        row.integer(1),
        LoggedPush.Delivery(
          number: row.integer(0), kind: row.optionalText(8).flatMap(DeviceToken.Kind.init),
          token: row.text(2), state: state, attempts: Int(row.integer(4)),
          reason: row.optionalText(5), updated: Timestamp(milliseconds: row.integer(6)),
          due: Timestamp(milliseconds: row.integer(7)))
      )
    }
    for (sequence, delivery) in rows {
      guard sequence == entry.sequence else { break }
      deliveries.append(delivery)
    }
    return LoggedPush(
      entry: entry, deliveries: deliveries,
      unsent: try unsentDeliveries(ofEntry: entry.sequence, in: entry.database))
  }
}

extension LogEntry {
  fileprivate init(row: any SQLRow, database: DatabaseID, address: DatabaseAddress) throws {
    self.init(
      database: database, sequence: row.integer(0),
      notification: try SubscriptionNotification(
        stored: row.bytes(3), database: address, subscriber: row.text(1)),
      logged: Timestamp(milliseconds: row.integer(2)))
  }
}
