import CloudKitModel
import StoreModel

// A reader's rows are locked before its cursors, as by those who give it to another user.
extension SQLRecordStore: CourierAnswers {
  /// What readers of the web courier were given last, where their polls may go to several servers; nil
  /// where one has the store alone.
  public var courierAnswers: (any CourierAnswers)? { presence == nil ? nil : self }

  public func keepCourierAnswer(_ entry: LogEntry, forToken token: String) async throws {
    try await write(locking: .rows) { session in
      // The reader may have been moved to another container since.
      guard let reader = try session.courierReader(ofToken: token, for: entry) else { return }
      let asksForBadge = entry.notification.subscription.notificationInfo?.shouldBadge == true
      try session.connection.run(
        """
        INSERT INTO courier_cursors (database_id, token, sequence, answered, answered_badge)
        VALUES ($1, $2, 0, $3, $4)
        ON CONFLICT (database_id, token) DO UPDATE SET answered = excluded.answered,
          answered_badge = excluded.answered_badge
        """,
        [
          .integer(entry.database.rawValue), .text(reader), .integer(entry.sequence),
          asksForBadge ? 1 : 0,
        ])
    }
  }

  public func withdrawCourierAnswer(_ entry: LogEntry, forToken token: String) async throws {
    try await write(locking: .rows) { session in
      guard let reader = try session.courierReader(ofToken: token, for: entry) else { return }
      try session.forgetCourierAnswer(
        CourierAnswer(
          database: entry.database, reader: reader, sequence: entry.sequence, asksForBadge: false))
    }
  }

  public func acknowledgeCourierAnswer(ofToken token: String) async throws {
    // Most polls have nothing to acknowledge, and write nothing.
    let answers = try await read { try $0.courierAnswers(ofToken: token) }
    for answer in answers {
      try await write(locking: .rows) { session in
        guard
          try session.courierRows(ofToken: token, keepingThem: true).contains(where: {
            $0.device.token == answer.reader
          })
        else { return }
        // Of polls that come at the same time one finds it.
        let moved = try session.connection.run(
          """
          UPDATE courier_cursors SET sequence = $3, answered = NULL, answered_badge = NULL
          WHERE database_id = $1 AND token = $2 AND answered = $3 AND sequence < $3
          """,
          [
            .integer(answer.database.rawValue), .text(answer.reader), .integer(answer.sequence),
          ])
        if moved == 0 {
          // An event stream may have passed it.
          try session.forgetCourierAnswer(answer)
        } else if answer.asksForBadge {
          _ = try session.raiseBadge(of: answer.reader, kind: .courier)
        }
      }
    }
  }
}

/// What a reader was given last in one of its databases.
private struct CourierAnswer {
  var database: DatabaseID
  /// The name of the reader's row for the container.
  var reader: String
  var sequence: Int64
  var asksForBadge: Bool
}

extension StoreSession {
  /// The name of the row with which a reader listens to what an entry is of, which nobody gives to
  /// another until the transaction ends.
  fileprivate func courierReader(ofToken token: String, for entry: LogEntry) throws -> String? {
    let address = entry.notification.database
    return try courierRows(ofToken: token, keepingThem: true).first {
      $0.device.container == address.container && $0.device.environment == address.environment
    }?.device.token
  }

  fileprivate func courierAnswers(ofToken token: String) throws -> [CourierAnswer] {
    try courierRows(ofToken: token).flatMap { device, _ in
      try SubscriberDatabaseTable(session: self).notifiedDatabases(of: device.recipient).flatMap {
        database in
        try connection.rows(
          """
          SELECT answered, answered_badge FROM courier_cursors
          WHERE database_id = $1 AND token = $2 AND answered IS NOT NULL
          """, [.integer(database.id.rawValue), .text(device.token)]
        ) {
          CourierAnswer(
            database: database.id, reader: device.token, sequence: $0.integer(0),
            asksForBadge: $0.integer(1) != 0)
        }
      }
    }
  }

  fileprivate func forgetCourierAnswer(_ answer: CourierAnswer) throws {
    try connection.run(
      """
      UPDATE courier_cursors SET answered = NULL, answered_badge = NULL
      WHERE database_id = $1 AND token = $2 AND answered = $3
      """,
      [.integer(answer.database.rawValue), .text(answer.reader), .integer(answer.sequence)])
  }
}
