import CloudKitModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  @Suite("Subscriptions")
  struct Subscriptions {
    static let engines = StoreEngine.allCases

    @Test("a user's subscriptions come back as saved, in order of their IDs", arguments: engines)
    func roundTrip(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        var rich = noteSubscription(
          "b",
          filters: [
            Filter(.field("size"), .greaterThan, .int64(3)),
            Filter(.system(.recordName), .isIn, .list(of: .string, [.string("x")])),
            Filter(.allText, .containsAnyTokens, .string("milk")),
            Filter(
              .field("place"), .near, .location(Location(latitude: 1, longitude: 2)), distance: 5),
            Filter(.field("title"), .equals, .string("A"), options: .caseInsensitive),
          ], options: [.firesOnRecordCreation, .firesOnce], badge: true, desiredKeys: ["title"])
        rich.notificationInfo?.titleLocalizationArgs = ["title", "body"]
        let plain = Subscription(
          subscriptionID: "a", kind: noteSubscription("x", zone: .default).kind)
        for subscription in [rich, plain] {
          #expect(try await test.subscribe(subscription) == .saved(subscription))
        }
        _ = try await test.subscribe(noteSubscription("c"), as: TestStore.bob)
        let found = try await test.store.subscriptions(of: TestStore.alice, in: test.publicID)
        #expect(found == [plain, rich])
      }
    }

    @Test("versions tell what was saved and deleted since", arguments: engines)
    func versions(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        #expect(try await store.subscriptionVersion(of: test.publicID) == 0)
        _ = try await test.subscribe(noteSubscription("a"))
        let first = try await store.subscriptionVersion(of: test.publicID)
        #expect(first > 0)
        _ = try await test.subscribe(noteSubscription("b"), as: TestStore.bob)
        _ = try await test.subscribe(noteSubscription("a", badge: true))
        let outcome = try await store.modifySubscriptions(
          [.delete(subscriptionID: "b"), .delete(subscriptionID: "b")], of: TestStore.bob,
          in: test.publicID, timestamp: TestStore.time(0))
        #expect(outcome[0] == .deleted(subscriptionID: "b"))
        #expect(outcome[1].failure?.code == .notFound)
        let changes = try await store.subscriptionChanges(in: test.publicID, since: first)
        #expect(!changes.isComplete)
        #expect(
          changes.saved == [
            StoredSubscription(
              subscriber: TestStore.alice, subscription: noteSubscription("a", badge: true),
              version: first)
          ])
        #expect(
          changes.deleted == [SubscriptionName(subscriber: TestStore.bob, subscriptionID: "b")])
        let nothing = try await store.subscriptionChanges(
          in: test.publicID, since: changes.version)
        #expect(nothing.saved.isEmpty && nothing.deleted.isEmpty && !nothing.isComplete)
        let all = try await store.subscriptionChanges(in: test.publicID, since: 0)
        #expect(all.isComplete && all.saved.count == 1 && all.deleted.isEmpty)
      }
    }

    @Test("a subscription deleted and saved again is only saved", arguments: engines)
    func revived(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("a"))
        let version = try await test.store.subscriptionVersion(of: test.publicID)
        _ = try await test.store.modifySubscriptions(
          [.delete(subscriptionID: "a"), .save(noteSubscription("a"))], of: TestStore.alice,
          in: test.publicID, timestamp: TestStore.time(0))
        let changes = try await test.store.subscriptionChanges(
          in: test.publicID, since: version)
        #expect(changes.saved.map(\.subscription.subscriptionID) == ["a"])
        #expect(changes.saved.map(\.version) == [changes.version])
        #expect(changes.deleted.isEmpty)
      }
    }

    @Test("forgotten deletions make an old reader start anew", arguments: engines)
    func forgotten(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("a"))
        _ = try await test.subscribe(noteSubscription("b"))
        let version = try await test.store.subscriptionVersion(of: test.publicID)
        _ = try await test.store.modifySubscriptions(
          [.delete(subscriptionID: "a")], of: TestStore.alice, in: test.publicID,
          timestamp: TestStore.time(0))
        try await test.store.trim(at: TestStore.time(31 * 24 * 3600))
        let old = try await test.store.subscriptionChanges(in: test.publicID, since: version)
        #expect(old.isComplete)
        #expect(old.saved.map(\.subscription.subscriptionID) == ["b"])
        let current = try await test.store.subscriptionChanges(
          in: test.publicID, since: old.version)
        #expect(!current.isComplete)
      }
    }

    @Test("scope, zone, filters and desired keys are checked", arguments: engines)
    func checks(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        try await test.save("n", ["title": .string("x"), "blob": .bytes(.init([1]))])
        let nowhere = ZoneID(zoneName: "nowhere")
        let database = Subscription(subscriptionID: "d", kind: .database(recordType: nil))
        let cases: [(Subscription, DatabaseID, ItemFailure.Code, String?)] = [
          (database, test.publicID, .invalid, "subscriptionType"),
          (noteSubscription("z", zone: nowhere), test.publicID, .zoneNotFound, "zoneID"),
          (
            Subscription(subscriptionID: "r", kind: .recordZone(nowhere, recordType: nil)),
            test.privateID, .zoneNotFound, "zoneID"
          ),
          (
            noteSubscription("k", desiredKeys: ["blob"]), test.publicID, .invalid, "desiredKeys"
          ),
          (
            noteSubscription("f", filters: [Filter(.field("title"), .equals, .int64(1))]),
            test.publicID, .invalid, "title"
          ),
        ]
        for (subscription, databaseID, code, field) in cases {
          let outcome = try await test.subscribe(subscription, in: databaseID)
          #expect(outcome.failure?.code == code, "\(outcome)")
          #expect(outcome.failure?.field == field)
        }
        let unknown = noteSubscription(
          "ok", filters: [Filter(.field("new"), .equals, .int64(1))], desiredKeys: ["newer"])
        #expect(try await test.subscribe(unknown) == .saved(unknown))
        #expect(try await test.store.subscriptionVersion(of: test.publicID) == 1)
      }
    }
  }
}
