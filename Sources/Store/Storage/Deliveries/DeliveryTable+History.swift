import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Deliveries with their outcomes, for administrators

extension DeliveryTable {
  /// Returns at most ``PushSearch/deliveryLimit`` deliveries of a log entry, in the order of their
  /// numbers. Log entries and deliveries share one sequence of numbers in a database. The
  /// deliveries of an entry have the numbers between the entry and the next one.
  func loggedDeliveries(
    ofEntry sequence: Int64, in database: DatabaseID
  ) throws -> [LoggedPush.Delivery] {
    let rows = try connection.rows(
      Self.sql.history.logged,
      [.id(database), .integer(sequence), .integer(Int64(PushSearch.deliveryLimit))]
    ) { row in
      guard let state = LoggedPush.Delivery.State(rawValue: row.integer(3)) else {
        throw StoreError(.corrupt, "delivery \(row.integer(0)) has an unknown state")
      }
      return (
        sequence: row.integer(1),
        delivery: LoggedPush.Delivery(
          number: row.integer(0), kind: row.optionalText(8).flatMap(DeviceToken.Kind.init),
          token: row.text(2), state: state, attempts: Int(row.integer(4)),
          reason: row.optionalText(5), updated: Timestamp(milliseconds: row.integer(6)),
          due: Timestamp(milliseconds: row.integer(7)))
      )
    }
    return rows.prefix { $0.sequence == sequence }.map(\.delivery)
  }

  /// Returns all deliveries of a log entry, in the order of their numbers.
  ///
  /// - Parameter next: the number of the next log entry.
  func pastDeliveries(
    ofEntry sequence: Int64, before next: Int64, in database: DatabaseID
  ) throws -> [PastDelivery] {
    try connection.rows(
      Self.sql.history.past, [.id(database), .integer(sequence), .integer(next)]
    ) { row in
      guard let state = PastDelivery.State(stored: row.integer(3)) else {
        throw StoreError(.corrupt, "delivery \(row.integer(0)) has an unknown state")
      }
      return PastDelivery(
        id: Delivery.ID(database: database, number: row.integer(0)),
        kind: row.optionalText(1).flatMap { DeviceToken.Kind(rawValue: $0) }, token: row.text(2),
        state: state, attempts: Int(row.integer(4)), reason: row.optionalText(5),
        updated: Timestamp(milliseconds: row.integer(6)),
        due: Timestamp(milliseconds: row.integer(7)), mergedInto: row.optionalInteger(8))
    }
  }

  struct HistoryStatements {
    let logged: Statement = """
      SELECT number, log_sequence, COALESCE(token, ''), state, attempts, reason, updated, due, kind
      FROM deliveries LEFT JOIN push_routes ON push_routes.route = deliveries.route
        LEFT JOIN device_numbers ON device_numbers.device = deliveries.device
      WHERE database_id = $1 AND number > $2 ORDER BY number LIMIT $3
      """
    let past: Statement = """
      SELECT number, push_routes.kind, COALESCE(token, ''), state, attempts, reason, updated, due,
        merged_into
      FROM deliveries LEFT JOIN push_routes ON push_routes.route = deliveries.route
        LEFT JOIN device_numbers ON device_numbers.device = deliveries.device
      WHERE database_id = $1 AND number > $2 AND number < $3 AND log_sequence = $2
      ORDER BY number
      """
  }
}

extension PastDelivery.State {
  fileprivate init?(stored: Int64) {
    switch stored {
    case 0: self = .waiting
    case FinalDeliveryState.delivered: self = .delivered
    case FinalDeliveryState.abandoned: self = .abandoned
    case FinalDeliveryState.merged: self = .merged
    case FinalDeliveryState.refused: self = .refused
    default: return nil
    }
  }
}
