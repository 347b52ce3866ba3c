import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func notifications(
    ofChange change: PastChange, subscriber: String?, limit: Int
  ) async throws -> [PastNotification] {
    let notificationID = change.change.notificationID
    return try await read { session in
      let address = try DatabaseTable(session: session).address(of: change.database)
      let sequences =
        if let subscriber {
          try session.logSequences(
            of: notificationID, for: subscriber, behind: change, limit: limit)
        } else {
          try session.logSequences(of: notificationID, behind: change, limit: limit)
        }
      return try sequences.compactMap { sequence in
        try session.connection.first(
          """
          SELECT subscriber, logged, content FROM notification_log
          WHERE database_id = $1 AND sequence = $2
          """, [.integer(change.database.rawValue), .integer(sequence)]
        ) { row in
          LogEntry(
            database: change.database, sequence: sequence,
            notification: try SubscriptionNotification(
              stored: row.bytes(2), database: address, subscriber: row.text(0)),
            logged: Timestamp(milliseconds: row.integer(1)))
        }
      }.map { try session.pastNotification($0) }
    }
  }

  public func notifications(
    ofSubscription name: SubscriptionName, in database: DatabaseID, limit: Int
  ) async throws -> [PastNotification] {
    try await read { session in
      var found: [PastNotification] = []
      let entries = try session.latestSequences(of: name.subscriber, in: database)
      for sequence in entries where found.count < limit {
        let (entry, _) = try session.logEntry(sequence, of: name.subscriber, in: database)
        guard entry.notification.subscription.subscriptionID == name.subscriptionID else {
          continue
        }
        found.append(try session.pastNotification(entry))
      }
      return found
    }
  }

  public func logEntry(ofDelivery id: Delivery.ID) async throws -> LogEntry? {
    try await read { session in
      let address = try DatabaseTable(session: session).address(of: id.database)
      return try session.connection.first(
        """
        SELECT sequence, subscriber, logged, content FROM deliveries
        JOIN notification_log ON notification_log.database_id = deliveries.database_id
          AND notification_log.sequence = deliveries.log_sequence
        WHERE deliveries.database_id = $1 AND number = $2
        """, [.integer(id.database.rawValue), .integer(id.number)]
      ) { row in
        LogEntry(
          database: id.database, sequence: row.integer(0),
          notification: try SubscriptionNotification(
            stored: row.bytes(3), database: address, subscriber: row.text(1)),
          logged: Timestamp(milliseconds: row.integer(2)))
      }
    }
  }

  public func subscriptionState(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionState? {
    try await read { try SubscriptionTable(session: $0).state(of: name, in: database) }
  }

  public func subscriptionDeletion(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionDeletion? {
    try await read { try SubscriptionTable(session: $0).deletion(of: name, in: database) }
  }

  public func subscriptionStates(
    withID subscriptionID: String?, of subscriber: String?, in database: DatabaseID,
    after name: SubscriptionName?, limit: Int
  ) async throws -> SubscriptionStatePage {
    try await read {
      try SubscriptionTable(session: $0).states(
        withID: subscriptionID, of: subscriber, in: database, after: name, limit: max(1, limit))
    }
  }

  public func devicePeriods(of recipient: Recipient) async throws -> [DevicePeriod] {
    try await read {
      try $0.connection.rows(
        """
        SELECT kind, token, apns_environment, device_id, first_registered AS began, expires AS ended,
          NULL AS reason
        FROM device_tokens WHERE user_record_name = $1 AND container = $2 AND environment = $3
        UNION ALL
        SELECT kind, token, apns_environment, device_id, first_registered, gone, reason
        FROM gone_devices WHERE user_record_name = $1 AND container = $2 AND environment = $3
        ORDER BY kind, token, began
        """,
        [
          .text(recipient.userRecordName), .text(recipient.container),
          .text(recipient.environment.rawValue),
        ], DevicePeriod.init(row:))
    }
  }
}

extension DevicePeriod {
  fileprivate init(row: any SQLRow) throws {
    guard let kind = DeviceToken.Kind(rawValue: row.text(0)),
      let apnsEnvironment = APNsEnvironment(rawValue: row.text(2))
    else { throw StoreError(.corrupt, "the device '\(row.text(1))' has unknown attributes") }
    self.init(
      kind: kind, token: row.text(1), apnsEnvironment: apnsEnvironment,
      deviceID: row.optionalText(3), began: Timestamp(milliseconds: row.integer(4)),
      ended: row.optionalInteger(5).map { Timestamp(milliseconds: $0) },
      reason: row.optionalText(6))
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

extension StoreSession {
  /// Log entries of a change, which lie behind it. There may be a million.
  fileprivate func logSequences(
    of notificationID: UUID, behind change: PastChange, limit: Int
  ) throws -> [Int64] {
    let page: Int64 = 500
    var found: [Int64] = []
    var last = change.sequence
    while true {
      let rows = try connection.rows(
        """
        SELECT sequence, logged, notification_id FROM notification_log
        WHERE database_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3
        """, [.integer(change.database.rawValue), .integer(last), .integer(page)]
      ) { row in
        (
          sequence: row.integer(0), logged: row.integer(1),
          isOfChange: row.isNull(2) ? false : row.bytes(2) == notificationID.storedBytes
        )
      }
      for row in rows {
        // The log goes on with other changes behind the last entry of this one.
        guard row.logged <= change.dispatched.milliseconds, found.count < limit else {
          return found
        }
        if row.isOfChange { found.append(row.sequence) }
      }
      guard rows.count == Int(page), let end = rows.last else { return found }
      last = end.sequence
    }
  }

  /// Those of one subscriber, by the log's index.
  fileprivate func logSequences(
    of notificationID: UUID, for subscriber: String, behind change: PastChange, limit: Int
  ) throws -> [Int64] {
    var found = Set(
      try unfiledRows(of: subscriber).filter {
        $0.database == change.database && $0.notificationID == notificationID
      }.map(\.sequence))
    for run in try connection.rows("SELECT run FROM notification_runs", [], { $0.integer(0) }) {
      found.formUnion(
        try connection.rows(
          """
          SELECT sequence FROM notification_index
          WHERE run = $1 AND subscriber = $2 AND database_id = $3 AND sequence > $4
            AND notification_id = $5 AND logged <= $6
          ORDER BY sequence LIMIT $7
          """,
          [
            .integer(run), .text(subscriber), .integer(change.database.rawValue),
            .integer(change.sequence), .bytes(notificationID.storedBytes),
            .integer(change.dispatched.milliseconds), .integer(Int64(limit)),
          ]
        ) { $0.integer(0) })
    }
    return Array(found.sorted().prefix(limit))
  }

  /// The latest entries of a user's log in one database, newest first; so many that a subscription's
  /// are among them, unless the user has others that fire all the time.
  fileprivate func latestSequences(
    of subscriber: String, in database: DatabaseID
  ) throws -> some Sequence<Int64> {
    let budget = 2_000
    var sequences = Set(
      try unfiledRows(of: subscriber).filter { $0.database == database }.map(\.sequence))
    for run in try connection.rows("SELECT run FROM notification_runs", [], { $0.integer(0) }) {
      sequences.formUnion(
        try connection.rows(
          """
          SELECT sequence FROM notification_index
          WHERE run = $1 AND subscriber = $2 AND database_id = $3 ORDER BY sequence DESC LIMIT $4
          """,
          [
            .integer(run), .text(subscriber), .integer(database.rawValue), .integer(Int64(budget)),
          ]
        ) { $0.integer(0) })
    }
    return sequences.sorted(by: >).prefix(budget)
  }

  /// Deliveries have the numbers right behind their log entry's, before the next entry's.
  fileprivate func pastNotification(_ entry: LogEntry) throws -> PastNotification {
    let database = SQLValue.integer(entry.database.rawValue)
    let next = try connection.first(
      """
      SELECT sequence FROM notification_log WHERE database_id = $1 AND sequence > $2
      ORDER BY sequence LIMIT 1
      """, [database, .integer(entry.sequence)]
    ) { $0.integer(0) }
    let deliveries = try connection.rows(
      """
      SELECT number, push_routes.kind, COALESCE(token, ''), state, attempts, reason, updated, due,
        merged_into
      FROM deliveries LEFT JOIN push_routes ON push_routes.route = deliveries.route
        LEFT JOIN device_numbers ON device_numbers.device = deliveries.device
      WHERE database_id = $1 AND number > $2 AND number < $3 AND log_sequence = $2
      ORDER BY number
      """, [database, .integer(entry.sequence), .integer(next ?? .max)]
    ) { row in
      guard let state = PastDelivery.State(stored: row.integer(3)) else {
        throw StoreError(.corrupt, "delivery \(row.integer(0)) has an unknown state")
      }
      return PastDelivery(
        id: Delivery.ID(database: entry.database, number: row.integer(0)),
        kind: row.optionalText(1).flatMap { DeviceToken.Kind(rawValue: $0) }, token: row.text(2),
        state: state, attempts: Int(row.integer(4)), reason: row.optionalText(5),
        updated: Timestamp(milliseconds: row.integer(6)),
        due: Timestamp(milliseconds: row.integer(7)), mergedInto: row.optionalInteger(8))
    }
    return PastNotification(
      entry: entry, deliveries: deliveries,
      unsent: try unsentDeliveries(ofEntry: entry.sequence, in: entry.database))
  }

  /// Why an entry of the log has no deliveries to some devices.
  func unsentDeliveries(
    ofEntry sequence: Int64, in database: DatabaseID
  ) throws -> UnsentDeliveries {
    try connection.first(
      "SELECT unsent FROM notification_log WHERE database_id = $1 AND sequence = $2",
      [.integer(database.rawValue), .integer(sequence)]
    ) { UnsentDeliveries(rawValue: $0.optionalInteger(0) ?? 0) } ?? []
  }
}
