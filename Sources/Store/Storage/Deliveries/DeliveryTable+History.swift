import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Deliveries with their outcomes, for administrators

extension DeliveryTable {
  /// Returns deliveries of a log entry, in the order of their numbers. Log entries and deliveries
  /// share one sequence of numbers in a database.
  ///
  /// - Parameter next: the number of the next log entry.
  func pastDeliveries(
    ofEntry sequence: Int64, before next: Int64, in database: DatabaseID, limit: Int
  ) throws -> [PastDelivery] {
    try connection.rows(
      sql.history.past, [.id(database), .integer(sequence), .integer(next), .count(limit)]
    ) { row in
      guard let state = DeliveryState(rawValue: row.integer(3)) else {
        throw StoreError(.corrupt, "delivery \(row.integer(0)) has an unknown state")
      }
      return PastDelivery(
        id: Delivery.ID(database: database, number: row.integer(0)),
        kind: row.optionalText(1).flatMap { DeviceToken.Kind(rawValue: $0) }, token: row.text(2),
        state: state, attempts: row.count(4), reason: row.optionalText(5), updated: row.time(6),
        due: row.time(7), mergedInto: row.optionalInteger(8))
    }
  }

  struct HistoryStatements {
    let past: Statement = """
      SELECT number, push_routes.kind, COALESCE(token, ''), state, attempts, reason, updated, due,
        merged_into
      FROM deliveries LEFT JOIN push_routes ON push_routes.route = deliveries.route
        LEFT JOIN device_numbers ON device_numbers.device = deliveries.device
      WHERE database_id = $1 AND number > $2 AND number < $3 AND log_sequence = $2
      ORDER BY number LIMIT $4
      """
  }
}
