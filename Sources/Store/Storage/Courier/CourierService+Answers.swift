import CloudKitModel
import StoreModel

extension CourierService {
  /// Stores the answer that is about to be sent to a reader whose polls name no event. The next such
  /// poll acknowledges the answer. It may reach another server, or the same one after a restart.
  ///
  /// - Parameters:
  ///   - entry: the notification in the answer.
  ///   - token: the reader's own token. A reader may listen in several containers; this is the
  ///     token of its first registration.
  public func keepCourierAnswer(_ entry: LogEntry, forToken token: String) async throws {
    try await transactions.write(locking: .rows) { transaction in
      // The reader may have been registered for another container meanwhile.
      guard
        let reader = try DeviceTable(transaction: transaction).reader(ofToken: token, for: entry)
      else { return }
      try CourierCursorTable(transaction: transaction).keep(CourierAnswer(entry, to: reader))
    }
  }

  /// Deletes the stored answer with this notification, because the answer was not sent.
  public func withdrawCourierAnswer(_ entry: LogEntry, forToken token: String) async throws {
    try await transactions.write(locking: .rows) { transaction in
      guard
        let reader = try DeviceTable(transaction: transaction).reader(ofToken: token, for: entry)
      else { return }
      try CourierCursorTable(transaction: transaction).forget(CourierAnswer(entry, to: reader))
    }
  }

  /// Acknowledges the reader's stored answers: moves the reader's cursors to their notifications,
  /// and raises the badge for each one that asks for a badge. A cursor is the last notification in
  /// a database that the reader has acknowledged. If several polls arrive at the same time, an
  /// answer counts once.
  public func acknowledgeCourierAnswer(ofToken token: String) async throws {
    // Most polls have nothing to acknowledge and write nothing.
    let answers = try await transactions.read { transaction in
      let cursors = CourierCursorTable(transaction: transaction)
      return try DeviceTable(transaction: transaction).registrations(ofToken: token, kind: .courier)
        .flatMap {
          device, _ in
          try SubscriberDatabaseTable(transaction: transaction).notifiedDatabases(
            of: device.recipient
          )
          .compactMap {
            try cursors.answer(to: device.name, in: $0.id)
          }
        }
    }
    for answer in answers {
      try await transactions.write(locking: .rows) { transaction in
        let devices = DeviceTable(transaction: transaction)
        guard
          try devices.registrations(ofToken: token, kind: .courier, keepingThem: true)
            .contains(where: { $0.device.name == answer.reader })
        else { return }
        let cursors = CourierCursorTable(transaction: transaction)
        // Of several concurrent polls, only one acknowledges the answer.
        if try !cursors.acknowledge(answer) {
          // An event stream may have moved the cursor past the answer's entry.
          try cursors.forget(answer)
        } else if answer.asksForBadge {
          _ = try devices.raiseBadge(of: answer.reader)
        }
      }
    }
  }
}

extension CourierAnswer {
  /// Creates the answer with a log entry.
  ///
  /// - Parameter reader: the reader's row for the container of the entry.
  fileprivate init(_ entry: LogEntry, to reader: DeviceToken) {
    self.init(
      database: entry.database, reader: reader.name, sequence: entry.sequence,
      asksForBadge: entry.notification.subscription.notificationInfo?.shouldBadge == true)
  }
}
