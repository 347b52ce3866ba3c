import CloudKitModel
import StoreModel

extension TestStore {
  /// Dispatches the changes of a private database as the dispatcher does: it forwards them to
  /// participants, and then writes the notifications of the database.
  ///
  /// - Parameter database: the database; nil for Alice's.
  /// - Returns: all written notifications.
  @discardableResult
  func dispatchWithForwards(
    _ database: DatabaseID? = nil, at seconds: Int64 = 0
  ) async throws -> [LogEntry] {
    let database = database ?? privateID
    var logged: [LogEntry] = []
    let entries = try await outbox(of: database)
    for changes in try await store.outbox.forwards(of: entries, after: []) {
      logged += try await store.outbox.completeDispatch(
        of: changes, timestamp: Self.time(seconds)
      ).logged
    }
    return logged + (try await dispatch(database, at: seconds)).logged
  }
}

extension TestStore {
  /// Dispatches the changes of all databases.
  func dispatchAll(at seconds: Int64 = 0) async throws {
    for database in try await store.outbox.undispatchedDatabases() {
      try await dispatchWithForwards(database, at: seconds)
    }
  }
}

extension SharingUser {
  /// Saves a database subscription in the shared database.
  func subscribe(_ id: String = "all", recordType: String? = nil) async throws {
    let outcome = try await test.subscribe(
      Subscription(subscriptionID: id, kind: .database(recordType: recordType)), as: name,
      in: sharedID)
    if let failure = outcome.failure { throw failure }
  }

  /// Deletes an own zone.
  func deleteZone(_ zone: ZoneID) async throws {
    let outcomes = try await test.store.zones.modifyZones(
      [.delete(zone)], in: privateID, origin: ChangeOrigin(userRecordName: name),
      timestamp: TestStore.time(1))
    if case .failed(_, let failure) = outcomes[0] { throw failure }
  }
}

extension [LogEntry] {
  /// The notifications of a user, each as its subscription, its event, and its record and record
  /// type or its zone.
  func lines(of user: SharingUser) -> [String] {
    filter { $0.notification.subscriber == user.name }.map { entry in
      let change = entry.notification.change
      let subject = change.record.map { "\($0.recordID.recordName) \($0.recordType)" }
      return "\(entry.notification.subscription.subscriptionID) \(change.event) "
        + (subject ?? change.zoneID.zoneName)
    }
  }
}
