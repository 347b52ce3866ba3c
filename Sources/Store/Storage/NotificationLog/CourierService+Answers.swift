import CloudKitModel
import StoreModel

extension CourierService {
  /// The last answers of readers whose polls may reach several servers; nil if one server uses the
  /// store alone. That server keeps them in its own memory.
  var courierAnswers: (any CourierAnswers)? { isShared ? self : nil }

  /// Stores the answer about to be sent. It does nothing if the reader no longer reads this
  /// container.
  func keepCourierAnswer(_ entry: LogEntry, forToken token: String) async throws {
    try await transactions.write(locking: .rows) { transaction in
      // The reader may have been moved to another container since.
      guard
        let reader = try DeviceTable(transaction: transaction).reader(ofToken: token, for: entry)
      else { return }
      try CourierCursorTable(transaction: transaction).keep(CourierAnswer(entry, to: reader))
    }
  }

  /// Deletes a stored answer, because the reader disconnected before it was sent.
  func withdrawCourierAnswer(_ entry: LogEntry, forToken token: String) async throws {
    try await transactions.write(locking: .rows) { transaction in
      guard
        let reader = try DeviceTable(transaction: transaction).reader(ofToken: token, for: entry)
      else { return }
      try CourierCursorTable(transaction: transaction).forget(CourierAnswer(entry, to: reader))
    }
  }

  /// Moves the reader's cursors past its stored answers, and counts the badge. There is a write for
  /// each answer, and none without answers.
  func acknowledgeCourierAnswer(ofToken token: String) async throws {
    // Most polls have nothing to acknowledge and write nothing.
    let answers = try await transactions.read { transaction in
      let cursors = CourierCursorTable(transaction: transaction)
      return try DeviceTable(transaction: transaction).readers(ofToken: token).flatMap {
        device, _ in
        try SubscriberDatabaseTable(transaction: transaction).notifiedDatabases(
          of: device.recipient
        )
        .compactMap {
          try cursors.answer(to: device.token, in: $0.id)
        }
      }
    }
    for answer in answers {
      try await transactions.write(locking: .rows) { transaction in
        let devices = DeviceTable(transaction: transaction)
        guard
          try devices.readers(ofToken: token, keepingThem: true).contains(where: {
            $0.device.token == answer.reader
          })
        else { return }
        let cursors = CourierCursorTable(transaction: transaction)
        // Only one of several concurrent polls finds it.
        if try !cursors.acknowledge(answer) {
          // An event stream may have moved the cursor past it.
          try cursors.forget(answer)
        } else if answer.asksForBadge {
          _ = try devices.raiseBadge(of: answer.reader, kind: .courier)
        }
      }
    }
  }
}

extension CourierAnswer {
  /// Creates the answer that sends an entry to a reader.
  fileprivate init(_ entry: LogEntry, to reader: DeviceToken) {
    self.init(
      database: entry.database, reader: reader.token, sequence: entry.sequence,
      asksForBadge: entry.notification.subscription.notificationInfo?.shouldBadge == true)
  }
}
