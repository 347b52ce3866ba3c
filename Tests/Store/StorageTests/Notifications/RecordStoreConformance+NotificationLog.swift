import CloudKitModel
import Foundation
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  struct NotificationLog {
    static let engines = StoreEngine.allCases

    @Test("a user's log holds what fired in any database, oldest first", arguments: engines)
    func order(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("public"))
        _ = try await test.subscribe(noteSubscription("private"), in: test.privateID)
        _ = try await test.subscribe(noteSubscription("other"), as: TestStore.bob)
        try await test.save("a")
        try await test.dispatch(at: 1)
        try await test.save("b", in: test.privateID)
        try await test.dispatch(test.privateID, at: 2)
        try await test.save("c")
        try await test.dispatch(at: 3)
        let first = try await test.log(limit: 2)
        #expect(first.summaries == ["a public", "b private"])
        #expect(first.moreComing)
        let second = try await test.log(since: first.token, limit: 2)
        #expect(second.summaries == ["c public"])
        #expect(!second.moreComing)
        let third = try await test.log(since: second.token)
        #expect(third.summaries == [] && !third.moreComing)
        #expect(try await test.log(of: TestStore.bob).summaries == ["a other", "c other"])
        guard case .unread(let entry) = first.notifications[0] else { return }
        #expect(entry.notification.database == TestStore.address(.public))
        #expect(entry.notification.subscriber == TestStore.alice)
        #expect(entry.logged == TestStore.time(1))
      }
    }

    @Test("a mark takes all entries of its ID, and comes behind older tokens", arguments: engines)
    func marks(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        for name in ["s", "t"] { _ = try await test.subscribe(noteSubscription(name)) }
        _ = try await test.subscribe(noteSubscription("other"), as: TestStore.bob)
        try await test.save("a")
        try await test.save("b")
        let logged = try await test.dispatch(at: 1).logged
        let a = logged[0].notification.change.notificationID
        let before = try await test.log()
        #expect(before.summaries == ["a s", "a t", "b s", "b t"])
        let unknown = UUID()
        #expect(try await test.mark([a, unknown, a], at: 2) == [a])
        let after = try await test.log(since: before.token)
        #expect(after.notifications == [.read(notificationID: a, marked: TestStore.time(2))])
        #expect(try await test.log().summaries == ["b s", "b t", "read"])
        // A second mark is none.
        #expect(try await test.mark([a], at: 3) == [a])
        #expect(try await test.log(since: after.token).summaries == [])
        // The same change is another user's notification too.
        #expect(try await test.log(of: TestStore.bob).summaries == ["a other", "b other"])
        #expect(try await test.mark([a], of: "_carol", at: 4) == [])
      }
    }

    @Test("a reader on the way sees a mark instead of the entry", arguments: engines)
    func markAhead(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s"))
        for name in ["a", "b", "c"] { try await test.save(name) }
        let logged = try await test.dispatch(at: 1).logged
        let first = try await test.log(limit: 1)
        _ = try await test.mark([logged[1].notification.change.notificationID], at: 2)
        let rest = try await test.log(since: first.token)
        #expect(rest.summaries == ["c s", "read"])
      }
    }

    @Test("marking leaves pushes and the courier alone", arguments: engines)
    func markedDelivery(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s", desiredKeys: ["title"]))
        try await test.register("aa")
        try await test.register("web", kind: .courier)
        try await test.save("a", ["title": .string("x")])
        let result = try await test.dispatch(at: 1)
        _ = try await test.mark([result.logged[0].notification.change.notificationID], at: 2)
        let due = try await test.store.deliveries.dueDeliveries(at: TestStore.time(3), limit: 9)
        #expect(due == result.deliveries)
        let next = try await test.store.courier.courierEntries(
          forToken: "web", after: CourierPosition(), limit: 1
        ).first
        #expect(next?.entry == result.logged[0])
      }
    }

    @Test(
      "a token from before what was trimmed has expired; a new reader begins", arguments: engines)
    func expired(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let day: Int64 = 24 * 3600
        _ = try await test.subscribe(noteSubscription("s"))
        let empty = try await test.log()
        for name in ["a", "b"] { try await test.save(name) }
        try await test.dispatch(at: 0)
        let half = try await test.log(limit: 1)
        let whole = try await test.log()
        try await test.save("c")
        try await test.dispatch(at: 20 * day)
        try await test.store.maintenance.trim(at: TestStore.time(31 * day))
        for token in [empty.token, half.token] {
          #expect(
            await storeError { _ = try await test.log(since: token) } == .changeTokenExpired)
        }
        #expect(try await test.log(since: whole.token).summaries == ["c s"])
        let fresh = try await test.log()
        #expect(fresh.summaries == ["c s"])
        #expect(try await test.log(since: fresh.token).summaries == [])
      }
    }

    @Test(
      "a mark is kept for 30 days, its entry or not, and missed when it is gone", arguments: engines
    )
    func trimmedMarks(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let day: Int64 = 24 * 3600
        _ = try await test.subscribe(noteSubscription("s"))
        try await test.save("a")
        let logged = try await test.dispatch(at: 0).logged
        let before = try await test.log()
        let id = logged[0].notification.change.notificationID
        _ = try await test.mark([id], at: 20 * day)
        try await test.store.maintenance.trim(at: TestStore.time(31 * day))
        #expect(try await test.log(since: before.token).summaries == ["read"])
        #expect(try await test.mark([id], at: 32 * day) == [id])
        try await test.store.maintenance.trim(at: TestStore.time(51 * day))
        #expect(
          await storeError { _ = try await test.log(since: before.token) } == .changeTokenExpired)
        #expect(try await test.log().summaries == [])
        #expect(try await test.mark([id], at: 52 * day) == [])
      }
    }

    @Test("tokens are bound to a user, a container and the log", arguments: engines)
    func foreign(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s"))
        try await test.save("a")
        try await test.dispatch(at: 1)
        let token = try await test.log().token
        #expect(
          await storeError { _ = try await test.log(of: TestStore.bob, since: token) }
            == .changeTokenExpired)
        var elsewhere = TestStore.recipient(TestStore.alice)
        elsewhere.container = "iCloud.com.example.other"
        let other = elsewhere
        #expect(
          await storeError {
            _ = try await test.store.notificationLog.notificationLog(
              of: other, since: token, limit: 9)
          } == .changeTokenExpired)
        let nothing = try await test.store.notificationLog.notificationLog(
          of: other, since: nil, limit: 9)
        #expect(nothing.notifications == [])
        for text in ["", "x", "AQ==", String(token.dropLast(4)), token + "AAAA"] {
          #expect(
            await storeError { _ = try await test.log(since: text) } == .badContinuation, "\(text)")
        }
      }
    }

    @Test("a token from a store that was reset has expired")
    func reset() async throws {
      let recipient = TestStore.recipient(TestStore.alice)
      var token = NotificationLogToken(of: recipient)
      let engine = StoreEngine.sqliteInMemory
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s"))
        try await test.save("a")
        try await test.dispatch(at: 1)
        token.places[test.publicID] = .init(position: 1000, floor: 0)
        let text = try token.text(sealedBy: test.store.secrets.tokens)
        #expect(await storeError { _ = try await test.log(since: text) } == .changeTokenExpired)
        #expect(try NotificationLogToken(text, sealedBy: test.store.secrets.tokens) == token)
      }
    }

    @Test("a page ends when its contents are large", arguments: engines)
    func largePage(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s", desiredKeys: ["title"]))
        let large = RecordValue.string(String(repeating: "x", count: 600_000))
        for name in ["a", "b", "c"] { try await test.save(name, ["title": large]) }
        try await test.dispatch(at: 1)
        let first = try await test.log()
        #expect(first.summaries == ["a s", "b s"])
        #expect(first.moreComing)
        #expect(try await test.log(since: first.token).summaries == ["c s"])
      }
    }

    @Test("the user's badges are set in the container, and counted on from", arguments: engines)
    func badge(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s", badge: true))
        _ = try await test.subscribe(noteSubscription("s", badge: true), as: TestStore.bob)
        try await test.register("aa")
        try await test.register("bb", device: "pad")
        try await test.register("cc", user: TestStore.bob)
        try await test.register("web", kind: .courier)
        try await test.store.devices.setBadge(7, of: TestStore.recipient(TestStore.alice))
        var elsewhere = TestStore.recipient(TestStore.alice)
        elsewhere.environment = .production
        try await test.store.devices.setBadge(99, of: elsewhere)
        try await test.save("a")
        let badges = try await test.dispatch(at: 1).deliveries.map {
          "\($0.device.token) \($0.badge ?? -1)"
        }
        #expect(badges.sorted() == ["aa 8", "bb 8", "cc 1"])
        #expect(
          try await test.store.courier.courierEntries(
            forToken: "web", after: CourierPosition(), limit: 1
          ).first?.badge == 8)
      }
    }
  }
}

extension TestStore {
  static func recipient(_ user: String) -> Recipient {
    Recipient(userRecordName: user, container: container, environment: .development)
  }

  func log(
    of user: String = alice, since token: String? = nil, limit: Int = 100
  ) async throws -> NotificationLogPage {
    try await store.notificationLog.notificationLog(
      of: Self.recipient(user), since: token, limit: limit)
  }

  func mark(
    _ ids: [UUID], of user: String = alice, at seconds: Int64
  ) async throws -> Set<UUID> {
    try await store.notificationLog.markNotificationsRead(
      ids, of: Self.recipient(user), timestamp: Self.time(seconds))
  }
}

extension NotificationLogPage {
  /// Record and subscription of each entry, `read` for those that were.
  fileprivate var summaries: [String] {
    notifications.map { notification in
      guard case .unread(let entry) = notification else { return "read" }
      let record = entry.notification.change.record?.recordID.recordName ?? "-"
      return "\(record) \(entry.notification.subscription.subscriptionID)"
    }
  }
}
