import CloudKit
import CloudKitModel
import Testing
import Waiting

/// The log of a user with notifications from several databases, as the operations read it.
struct NotificationLogReadingTests {
  @available(*, deprecated)
  @Test(
    "Notifications of both databases come in the order of their logging, each once, page by page")
  func databases() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone")
      let berta = try await cloud.container(of: "berta", device: "phone")
      try await phone.privateCloudDatabase.subscribe("mine", where: .all)
      try await phone.publicCloudDatabase.subscribe("everyone's", where: .all)
      let empty = try await phone.fetchLog(since: nil)
      #expect(empty.notifications.isEmpty && !empty.moreComing)
      let writers: [(CKDatabase, CKDatabase.Scope)] = [
        (phone.privateCloudDatabase, .private), (phone.publicCloudDatabase, .public),
        (berta.publicCloudDatabase, .public), (phone.privateCloudDatabase, .private),
        (phone.publicCloudDatabase, .public), (phone.privateCloudDatabase, .private),
        (phone.privateCloudDatabase, .private),
      ]
      var expected: [String] = []
      for (number, (database, scope)) in writers.enumerated() {
        try await database.add("Item", "item-\(number)")
        expected.append("item-\(number) \(scope.rawValue)")
        // Databases are dispatched side by side: the next is saved when this one is logged.
        _ = try await phone.awaitLog(number + 1)
      }
      for limit in [1, 2, 3, 0] {
        for start in [nil, empty.token] {
          let log = try await phone.fetchWholeLog(since: start, limit: limit)
          #expect(log.notifications.map(Self.summary) == expected, "\(limit) a page")
        }
      }
      // From each place on there is the rest, and nothing twice.
      var token = empty.token
      for number in expected.indices {
        let page = try await phone.fetchLog(since: token, limit: 1)
        #expect(page.notifications.map(Self.summary) == [expected[number]])
        #expect(page.moreComing == (number < expected.count - 1))
        token = page.token
        let rest = try await phone.fetchWholeLog(since: token)
        #expect(rest.notifications.map(Self.summary) == Array(expected[(number + 1)...]))
      }
      #expect(try await berta.fetchLog(since: nil).notifications.isEmpty)
    }
  }

  @available(*, deprecated)
  @Test("Marks of several databases are one change each, and survive a restart of the server")
  func marks() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone")
      try await phone.privateCloudDatabase.subscribe("s", where: .all)
      try await phone.privateCloudDatabase.subscribe("t", where: .all, info: .init(alertBody: "t"))
      try await phone.publicCloudDatabase.subscribe("u", where: .all)
      for name in ["A", "B"] { try await phone.privateCloudDatabase.add("Item", name) }
      _ = try await phone.awaitLog(4)
      for name in ["C", "D"] { try await phone.publicCloudDatabase.add("Item", name) }
      let before = try await phone.awaitLog(6)
      let ids = before.notifications.compactMap(\.notificationID)
      // Two subscriptions fired on each of the first two: A A B B C D.
      try #require(ids.count == 6 && Set(ids).count == 4)
      let outcome = await phone.markRead([ids[0], ids[4]])
      #expect(outcome.marked == [ids[0], ids[4]] && outcome.error == nil)
      #expect(await phone.markRead([]).error == nil)

      await cloud.stopServer()
      try await cloud.startServer()
      let laptop = try await cloud.container(of: "anna", device: "laptop")
      let news = try await laptop.fetchWholeLog(since: before.token, limit: 1)
      #expect(news.notifications.map(\.notificationType) == [.readNotification, .readNotification])
      #expect(news.notifications.compactMap(\.notificationID) == [ids[0], ids[4]])
      #expect(
        news.notifications.allSatisfy {
          !($0 is CKQueryNotification) && $0.subscriptionID == nil && !$0.isPruned
            && $0.containerIdentifier == Cloud.container
        })
      let all = try await laptop.fetchWholeLog(since: nil)
      #expect(all.notifications.prefix(3).map(Self.summary) == ["B 2", "B 2", "D 1"])
      #expect(all.notifications.dropFirst(3).compactMap(\.notificationID) == [ids[0], ids[4]])

      // What is marked already is no change.
      let again = await laptop.markRead([ids[0]])
      #expect(again.marked == [ids[0]] && again.error == nil)
      #expect(try await laptop.fetchLog(since: news.token).notifications.isEmpty)
      let last = await laptop.markRead([ids[2]])
      #expect(last.marked == [ids[2]])
      let end = try await laptop.fetchLog(since: news.token)
      #expect(end.notifications.compactMap(\.notificationID) == [ids[2]])
    }
  }

  @available(*, deprecated)
  @Test("The newest 10,000 entries are kept; who had not read an older one has to begin anew")
  func count() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone")
      let database = phone.privateCloudDatabase
      let subscriptions = ["s", "t", "u", "v"]
      for id in subscriptions { try await database.subscribe(id, where: .all) }
      let early = try await phone.fetchLog(since: nil)
      try await database.add("Item", "first")
      let first = try await phone.awaitLog(subscriptions.count)
      let names = (0..<2500).map { "item-\($0)" }
      for start in stride(from: 0, to: names.count, by: 250) {
        let records = names[start..<(start + 250)].map { CKRecord("Item", $0) }
        try await database.modifyRecords(saving: records, deleting: [])
      }
      let store = await cloud.store
      try await eventually("all is logged") {
        try await store.outbox.undispatchedDatabases().isEmpty
      }
      let half = try await phone.fetchLog(since: first.token, limit: 1)
      try await store.maintenance.trim(at: .now)

      let operation = CKFetchNotificationChangesOperation(previousServerChangeToken: early.token)
      let (token, error) = await withCheckedContinuation { continuation in
        operation.fetchNotificationChangesCompletionBlock = {
          continuation.resume(returning: ($0, $1 as? CKError))
        }
        phone.add(operation)
      }
      #expect(token == nil && error?.code == .changeTokenExpired)
      let expected = names.flatMap { name in subscriptions.map { "\(name) \($0)" } }
      for start in [nil, first.token] {
        let log = try await phone.fetchWholeLog(since: start)
        let found = log.notifications.map { notification in
          let query = notification as? CKQueryNotification
          return "\(query?.recordID?.recordName ?? "?") \(notification.subscriptionID ?? "?")"
        }
        #expect(Set(found) == Set(expected) && found.count == expected.count)
      }
      let rest = try await phone.fetchWholeLog(since: half.token)
      #expect(rest.notifications.count == expected.count - 1)
    }
  }

  /// Record and database.
  private static func summary(_ notification: CKNotification) -> String {
    guard let query = notification as? CKQueryNotification else { return "no query" }
    return "\(query.recordID?.recordName ?? "?") \(query.databaseScope.rawValue)"
  }
}
