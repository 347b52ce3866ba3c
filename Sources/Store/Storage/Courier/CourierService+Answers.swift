import StoreModel

extension CourierService {
  /// Stores the answer that is about to be sent to a reader whose polls name no event. The next
  /// such poll, at any server, acknowledges it.
  ///
  /// - Parameter token: the token of the reader's first registration, if the reader listens in
  ///   several containers.
  public func keepCourierAnswer(_ entry: LogEntry, forToken token: String) async throws {
    try await transactions.write(locking: .rows) { transaction in
      // The reader may have been registered for another container meanwhile.
      guard
        let reader = try DeviceTable(transaction: transaction).reader(ofToken: token, for: entry)
      else { return }
      try CourierCursorTable(transaction: transaction).keep(CourierAnswer(entry, to: reader))
    }
  }

  /// Deletes the stored answer with this notification, because it was not sent.
  public func withdrawCourierAnswer(_ entry: LogEntry, forToken token: String) async throws {
    try await transactions.write(locking: .rows) { transaction in
      guard
        let reader = try DeviceTable(transaction: transaction).reader(ofToken: token, for: entry)
      else { return }
      try CourierCursorTable(transaction: transaction).forget(CourierAnswer(entry, to: reader))
    }
  }

  /// Moves the reader's cursors to the notifications of its stored answers, and raises the badge
  /// for each one that asks for a badge. If several polls arrive at the same time, an answer counts
  /// once.
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
  fileprivate init(_ entry: LogEntry, to reader: DeviceToken) {
    self.init(
      database: entry.database, reader: reader.name, sequence: entry.sequence,
      asksForBadge: entry.notification.subscription.notificationInfo?.shouldBadge == true)
  }
}
