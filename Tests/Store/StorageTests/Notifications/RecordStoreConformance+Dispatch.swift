import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Synchronization
import Testing

@testable import Storage

extension RecordStoreConformance {
  struct Dispatch {
    static let engines = StoreEngine.allCases

    @Test("a dispatched change is logged, owed and gone from the outbox", arguments: engines)
    func complete(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s", badge: true, desiredKeys: ["title"]))
        try await test.register("aa", device: "phone")
        try await test.register("bb", device: "pad")
        try await test.register("cc", user: TestStore.bob)
        try await test.register("web", kind: .courier)
        let fields: RecordFields<RecordValue?> = ["title": .string("x"), "body": .string("long")]
        try await test.save("n", fields, device: "phone")
        let entry = try await test.outbox()[0]
        let result = try await test.dispatch(at: 9)
        #expect(result.logged.count == 1)
        let logged = try #require(result.logged.first)
        #expect(logged.notification.change.record?.fields == ["title": .string("x")])
        #expect(logged.notification.change.notificationID == entry.change.notificationID)
        #expect(logged.notification.subscriber == TestStore.alice)
        #expect(logged.notification.database == TestStore.address(.public))
        #expect(logged.logged == TestStore.time(9))
        #expect(result.deliveries.map(\.device.token) == ["bb"])
        #expect(result.deliveries.map(\.badge) == [1])
        #expect(result.deliveries.map(\.notification) == [logged.notification])
        #expect(try await test.outbox().isEmpty)
        #expect(try await test.store.outbox.undispatchedDatabases().isEmpty)
        let due = try await test.store.deliveries.dueDeliveries(at: TestStore.time(9), limit: 10)
        #expect(due == result.deliveries)
        #expect(
          try await test.store.deliveries.dueDeliveries(at: TestStore.time(8), limit: 10).isEmpty)
      }
    }

    @Test("the same changes dispatched twice are logged once", arguments: engines)
    func idempotent(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s"))
        try await test.register("aa")
        try await test.save("n")
        let subscriptions = try await test.storedSubscriptions()
        let matched = try await test.outbox().map {
          MatchedChange(entry: $0, firings: subscriptions)
        }
        let time = TestStore.time(1)
        let first = try await test.store.outbox.completeDispatch(
          of: matched + matched, timestamp: time)
        let second = try await test.store.outbox.completeDispatch(of: matched, timestamp: time)
        #expect(first.logged.count == 1 && first.deliveries.count == 1)
        #expect(second.logged.isEmpty && second.deliveries.isEmpty)
      }
    }

    @Test("firesOnce fires once and deletes the subscription with the log row", arguments: engines)
    func once(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(
          noteSubscription("s", options: [.firesOnRecordCreation, .firesOnce]))
        try await test.save("a")
        try await test.save("b")
        let version = try await test.store.subscriptions.subscriptionVersion(of: test.publicID)
        let subscriptions = try await test.storedSubscriptions()
        var matched = try await test.outbox().map {
          MatchedChange(entry: $0, firings: subscriptions)
        }
        let late = matched.removeLast()
        let first = try await test.store.outbox.completeDispatch(
          of: matched, timestamp: TestStore.time(1))
        let second = try await test.store.outbox.completeDispatch(
          of: [late], timestamp: TestStore.time(1))
        #expect(first.logged.count == 1)
        #expect(second.logged.isEmpty)
        #expect(try await test.outbox().isEmpty)
        let changes = try await test.store.subscriptions.subscriptionChanges(
          in: test.publicID, since: version)
        #expect(changes.saved.isEmpty)
        #expect(
          changes.deleted == [SubscriptionName(subscriber: TestStore.alice, subscriptionID: "s")])
      }
    }

    @Test(
      "firesOnce fires for a program that does not know a field of the subscription's row",
      arguments: engines)
    func onceWithUnknownField(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(
          noteSubscription("s", options: [.firesOnRecordCreation, .firesOnce]))
        try await test.save("a")
        let database = test.publicID.rawValue
        let store = test.store
        try await store.transactions.write { transaction in
          var row = try #require(
            try transaction.connection.first(
              "SELECT content FROM subscriptions WHERE database_id = $1", [.integer(database)]
            ) { $0.bytes(0) })
          // In front of the end: the tag 40, with one byte.
          row.insert(contentsOf: [0xA2, 0x01, 1, 7], at: row.count - 1)
          _ = try transaction.connection.run(
            "UPDATE subscriptions SET content = $2 WHERE database_id = $1",
            [.integer(database), .bytes(row)])
        }
        let subscriptions = try await test.storedSubscriptions()
        let matched = try await test.outbox().map {
          MatchedChange(entry: $0, firings: subscriptions)
        }
        let completion = try await test.store.outbox.completeDispatch(
          of: matched, timestamp: TestStore.time(1))
        #expect(completion.logged.count == 1)
        #expect(try await test.storedSubscriptions().isEmpty)
      }
    }

    @Test("firesOnce does not fire for a subscription that was replaced", arguments: engines)
    func onceReplaced(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let options: Subscription.Options = [.firesOnRecordCreation, .firesOnce]
        _ = try await test.subscribe(noteSubscription("s", options: options))
        try await test.save("a")
        let former = try await test.storedSubscriptions()
        _ = try await test.subscribe(noteSubscription("s", options: options, badge: true))
        let matched = try await test.outbox().map { MatchedChange(entry: $0, firings: former) }
        let completion = try await test.store.outbox.completeDispatch(
          of: matched, timestamp: TestStore.time(1))
        #expect(completion.logged.isEmpty)
        #expect(try await test.storedSubscriptions().count == 1)
      }
    }

    @Test(
      "changes are kept for the dispatcher while the database has subscriptions",
      arguments: engines)
    func withoutSubscriptions(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        var random = SeededGenerator(seed: 4)
        var subscribed: Set<String> = []
        var expected: [String] = []
        for number in 0..<200 {
          let name = random.pick(["s", "t"])
          switch Int.random(in: 0..<4, using: &random) {
          case 0:
            _ = try await test.subscribe(noteSubscription(name))
            subscribed.insert(name)
          case 1:
            _ = try await test.store.subscriptions.modifySubscriptions(
              [.delete(subscriptionID: name)], of: TestStore.alice, in: test.publicID,
              timestamp: TestStore.time(0))
            subscribed.remove(name)
          case 2:
            // Another database's subscriptions count for nothing here.
            _ = try await test.subscribe(noteSubscription(name), in: test.privateID)
          default:
            try await test.save("n\(number)")
            if !subscribed.isEmpty { expected.append("n\(number)") }
          }
        }
        let kept = try await test.outbox().compactMap { $0.change.record?.recordID.recordName }
        #expect(kept == expected)
        #expect(!expected.isEmpty && expected.count < 60)
      }
    }

    @Test(
      "every change that is made after a subscription's reply is kept, whatever it shares a commit with",
      arguments: engines)
    func subscribingAmidSaves(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let subscribing = Subscribing()
        let mustBeKept = try await withThrowingTaskGroup(of: [String].self) { group in
          for writer in 0..<8 {
            group.addTask {
              var names: [String] = []
              for number in 0..<40 {
                let name = "w\(writer)-\(number)"
                if subscribing.isAnswered.withLock({ $0 }) { names.append(name) }
                try await test.save(name)
              }
              return names
            }
          }
          group.addTask {
            _ = try await test.subscribe(noteSubscription("s"))
            subscribing.isAnswered.withLock { $0 = true }
            return []
          }
          return try await group.reduce(into: Set<String>()) { $0.formUnion($1) }
        }
        let kept = try await test.outbox().compactMap { $0.change.record?.recordID.recordName }
        #expect(mustBeKept.isSubset(of: kept))
      }
    }

    @Test("entries carry the subscription version of their commit", arguments: engines)
    func subscriptionVersion(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        try await test.watch()
        try await test.save("a")
        _ = try await test.subscribe(noteSubscription("s"))
        try await test.save("b")
        let entries = try await test.outbox()
        let subscription = try #require(
          try await test.storedSubscriptions().first { $0.subscription.subscriptionID == "s" })
        #expect(entries[0].subscriptionVersion < subscription.version)
        #expect(entries[1].subscriptionVersion >= subscription.version)
      }
    }

    @Test(
      "the commit handler gets each change once, in the order of the outbox", arguments: engines)
    func handler(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        try await test.watch()
        let seen = Mutex<[OutboxEntry]>([])
        test.store.outbox.setCommitHandler { entries in seen.withLock { $0 += entries } }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for writer in 0..<8 {
            group.addTask {
              for number in 0..<20 {
                if number % 5 == 4 {
                  let kind = RecordOperation.Kind.update
                  let missing = RecordOperation(
                    kind: kind, recordID: RecordID(recordName: "missing"))
                  #expect(try await test.modify([missing])[0].summary == "notFound")
                } else {
                  try await test.save("w\(writer)-\(number)")
                }
              }
            }
          }
          try await group.waitForAll()
        }
        let handed = seen.withLock { $0 }
        #expect(handed.count == 128)
        #expect(handed == (try await test.outbox()))
        test.store.outbox.setCommitHandler(nil)
        try await test.save("after")
        #expect(seen.withLock { $0.count } == 128)
      }
    }

    @Test("deliveries are retried, finished and counted", arguments: engines)
    func deliveries(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        _ = try await test.subscribe(noteSubscription("s", badge: true))
        for token in ["aa", "bb"] { try await test.register(token) }
        try await test.save("n")
        let owed = try await test.dispatch(at: 1).deliveries
        #expect(owed.count == 2)
        try await store.deliveries.updateDeliveries([
          DeliveryUpdate(id: owed[0].id, state: .delivered(), timestamp: TestStore.time(2)),
          DeliveryUpdate(
            id: owed[1].id, state: .retry(at: TestStore.time(60), reason: "503", wasSent: true),
            timestamp: TestStore.time(2)),
        ])
        #expect(try await store.deliveries.dueDeliveries(at: TestStore.time(59), limit: 9).isEmpty)
        #expect(try await test.nextDeliveryTime(after: TestStore.time(2)) == TestStore.time(60))
        let due = try await store.deliveries.dueDeliveries(at: TestStore.time(60), limit: 9)
        #expect(due.map(\.id) == [owed[1].id])
        #expect(due.first?.attempts == 1)
        try await store.deliveries.updateDeliveries([
          DeliveryUpdate(
            id: owed[1].id, state: .abandoned(reason: "expired"), timestamp: TestStore.time(61)),
          DeliveryUpdate(
            id: owed[1].id, state: .retry(at: TestStore.time(70), reason: "late", wasSent: true),
            timestamp: TestStore.time(62)),
        ])
        #expect(try await test.nextDeliveryTime(after: TestStore.time(0)) == nil)
        #expect(try await store.deliveries.dueDeliveries(at: TestStore.time(99), limit: 9).isEmpty)
        try await test.save("m")
        #expect(try await test.dispatch(at: 80).deliveries.map(\.badge) == [2, 2])
      }
    }

    @Test(
      "a token is dropped only if it was registered before the given moment", arguments: engines)
    func dropToken(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        _ = try await test.subscribe(noteSubscription("s"))
        try await test.register("aa", at: 10)
        try await test.save("n")
        try await test.save("m")
        let owed = try await test.dispatch(at: 11).deliveries
        func drop(_ delivery: Delivery, before seconds: Int64) async throws {
          try await store.deliveries.updateDeliveries([
            DeliveryUpdate(
              id: delivery.id, state: .abandoned(reason: "Unregistered"),
              timestamp: TestStore.time(12),
              device: .gone(registeredBefore: TestStore.time(seconds)))
          ])
        }
        try await drop(owed[0], before: 10)
        #expect(try await store.devices.registrations(ofToken: "aa", kind: .apns).isEmpty == false)
        try await drop(owed[0], before: 11)
        #expect(try await store.devices.registrations(ofToken: "aa", kind: .apns).isEmpty)
        #expect(try await store.deliveries.dueDeliveries(at: TestStore.time(99), limit: 9).isEmpty)
        #expect(try await test.nextDeliveryTime(after: TestStore.time(0)) == nil)
      }
    }

    @Test("a token moves to another user, and owes the first nothing more", arguments: engines)
    func moveToken(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        _ = try await test.subscribe(noteSubscription("s", badge: true))
        _ = try await test.subscribe(noteSubscription("s", badge: true), as: TestStore.bob)
        try await test.register("aa", device: "phone", at: 1)
        try await test.save("n")
        #expect(try await test.dispatch(at: 2).deliveries.count == 1)
        try await test.register("aa", user: TestStore.bob, device: "phone", at: 3)
        #expect(try await store.devices.deviceTokens(of: TestStore.alice).isEmpty)
        #expect(try await store.devices.deviceTokens(of: TestStore.bob).map(\.token) == ["aa"])
        #expect(try await store.deliveries.dueDeliveries(at: TestStore.time(9), limit: 9).isEmpty)
        try await test.save("m")
        let owed = try await test.dispatch(at: 4).deliveries
        #expect(owed.map(\.notification.subscriber) == [TestStore.bob])
        #expect(owed.map(\.badge) == [1])
        // The same reader again keeps its badge.
        try await test.register("aa", user: TestStore.bob, device: "phone", at: 5)
        try await test.save("o")
        #expect(try await test.dispatch(at: 6).deliveries.map(\.badge) == [2])
      }
    }

    @Test("trimming keeps 30 days and 10,000 entries a user", arguments: engines)
    func trim(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        let day: Int64 = 24 * 3600
        try await test.register("web", kind: .courier, expires: 400 * day)
        try await test.register("old", kind: .courier, expires: day)
        try await test.register("aa")
        for name in ["s", "t"] { _ = try await test.subscribe(noteSubscription(name)) }
        try await test.save("first")
        try await test.dispatch(at: 0)
        #expect(
          try await store.deliveries.dueDeliveries(at: TestStore.time(9), limit: 9).count == 2)
        try await store.maintenance.trim(at: TestStore.time(29 * day))
        #expect(
          try await store.courier.courierEntries(
            forToken: "web", after: CourierPosition(), limit: 1
          ).first != nil)
        #expect(try await store.devices.registrations(ofToken: "old", kind: .courier).isEmpty)
        try await store.maintenance.trim(at: TestStore.time(31 * day))
        #expect(
          try await store.courier.courierEntries(
            forToken: "web", after: CourierPosition(), limit: 1
          ).first == nil)
        #expect(try await store.deliveries.dueDeliveries(at: TestStore.time(9), limit: 9).isEmpty)
        #expect(try await test.nextDeliveryTime(after: TestStore.time(-9)) == nil)

        let ids = (0..<5_001).map { "n\($0)" }
        for start in stride(from: 0, to: ids.count, by: 400) {
          _ = try await test.modify(
            ids[start..<min(start + 400, ids.count)].map {
              RecordOperation(
                kind: .create, recordID: RecordID(recordName: $0), recordType: "Note")
            })
        }
        try await test.dispatch(at: 31 * day)
        try await store.maintenance.trim(at: TestStore.time(31 * day))
        let oldest = try #require(
          try await store.courier.courierEntries(
            forToken: "web", after: CourierPosition(), limit: 1
          ).first)
        #expect(oldest.entry.notification.change.record?.recordID.recordName == "n1")
      }
    }
  }
}

/// Whether a subscription's save was answered, shared between tasks.
private final class Subscribing: Sendable {
  let isAnswered = Mutex(false)
}
