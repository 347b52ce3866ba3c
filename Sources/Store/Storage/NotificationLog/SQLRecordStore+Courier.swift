import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  /// The oldest notification that the reader with this token has not acknowledged, or that lies
  /// after its own position.
  ///
  /// A reader sees what was logged since its token was first saved for the container. Throws
  /// ``StoreError/Code/notFound`` when there is no such token.
  ///
  /// - Complexity: O(*d* *r* log *n*) for *d* databases in which the user ever had subscriptions and *r*
  ///   runs of the index.
  public func nextCourierEntry(
    forToken token: String, after position: CourierPosition
  ) async throws -> CourierEntry? {
    try await read { session in
      var oldest: CourierEntry?
      for (device, badge) in try session.existingCourierRows(ofToken: token) {
        for database in try SubscriberDatabaseTable(session: session).notifiedDatabases(
          of: device.recipient)
        {
          let cursor = try session.courierCursor(of: device.token, in: database.id)
          let own = position.sequences[database.id].flatMap {
            $0 <= database.lastNumber ? $0 : nil
          }
          guard
            let entry = try session.nextLogEntry(
              for: device, in: database.id, after: own ?? cursor)
          else { continue }
          if let other = oldest?.entry, !entry.isOlder(than: other) { continue }
          let asksForBadge = entry.notification.subscription.notificationInfo?.shouldBadge == true
          // What was acknowledged before is counted already.
          let isNew = entry.sequence > cursor
          oldest = CourierEntry(
            entry: entry, badge: asksForBadge ? badge + (isNew ? 1 : 0) : nil)
        }
      }
      return oldest
    }
  }

  /// Moves the reader's cursor past this entry, and keeps the badge it was shown with. An entry that
  /// the cursor has passed already changes nothing.
  public func acknowledgeCourierEntry(
    _ entry: LogEntry, forToken token: String
  ) async throws {
    try await write(locking: .rows) { session in
      let address = entry.notification.database
      // The reader may have been moved to another container since.
      guard
        let device = try session.existingCourierRows(ofToken: token, keepingThem: true).first(
          where: {
            $0.device.container == address.container
              && $0.device.environment == address.environment
          })?.device
      else { return }
      let moved = try session.connection.run(
        """
        INSERT INTO courier_cursors (database_id, token, sequence) VALUES ($1, $2, $3)
        ON CONFLICT (database_id, token) DO UPDATE SET sequence = excluded.sequence
          WHERE courier_cursors.sequence < excluded.sequence
        """,
        [.integer(entry.database.rawValue), .text(device.token), .integer(entry.sequence)])
      if moved == 1, entry.notification.subscription.notificationInfo?.shouldBadge == true {
        _ = try session.raiseBadge(of: device.token, kind: .courier)
      }
    }
  }
}

extension LogEntry {
  /// The order in which a reader of several databases sees entries.
  fileprivate func isOlder(than other: LogEntry) -> Bool {
    (logged, database, sequence) < (other.logged, other.database, other.sequence)
  }
}

extension StoreSession {
  fileprivate func existingCourierRows(
    ofToken token: String, keepingThem: Bool = false
  ) throws -> [(device: DeviceToken, badge: Int)] {
    let rows = try courierRows(ofToken: token, keepingThem: keepingThem)
    guard !rows.isEmpty else {
      throw StoreError(.notFound, "there is no courier token '\(token)'; create one again")
    }
    return rows
  }

  /// The sequence of the last entry that the reader has acknowledged; 0 when it has none.
  fileprivate func courierCursor(of token: String, in database: DatabaseID) throws -> Int64 {
    try connection.first(
      "SELECT sequence FROM courier_cursors WHERE database_id = $1 AND token = $2",
      [.integer(database.rawValue), .text(token)]
    ) { $0.integer(0) } ?? 0
  }

  fileprivate func nextLogEntry(
    for device: DeviceToken, in database: DatabaseID, after position: Int64
  ) throws -> LogEntry? {
    let filed = try connection.first(
      """
      SELECT sequence FROM notification_runs CROSS JOIN notification_index
      WHERE notification_index.run = notification_runs.run
        AND database_id = $1 AND subscriber = $2 AND sequence > $3
        AND (origin_device IS NULL OR origin_device <> COALESCE($4, ''))
      ORDER BY sequence LIMIT 1
      """,
      [
        .integer(database.rawValue), .text(device.userRecordName), .integer(position),
        SQLValue(device.deviceID),
      ]
    ) { $0.integer(0) }
    let unfiled = try unfiledRows(of: device.userRecordName).lazy.filter {
      $0.database == database && $0.sequence > position
        && ($0.originDevice == nil || $0.originDevice != device.deviceID)
    }.map(\.sequence).min()
    let sequence = [filed, unfiled].compactMap(\.self).min()
    return try sequence.map {
      try logEntry($0, of: device.userRecordName, in: database).entry
    }
  }
}
