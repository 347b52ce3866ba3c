import CloudKitModel
import PropertyTesting
import StoreModel
import Testing

extension RecordStoreConformance {
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
        let found = try await test.store.subscriptions.subscriptions(
          of: TestStore.alice, in: test.publicID)
        #expect(found == [plain, rich])
      }
    }

    @Test(
      "a save tells which kind of subscription it replaced, where that is another",
      arguments: engines)
    func replacedKinds(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zoneID = try await test.makeZone("Zone")
        let query = noteSubscription("s")
        let zone = Subscription(subscriptionID: "s", kind: .recordZone(zoneID, recordType: nil))
        let database = Subscription(subscriptionID: "s", kind: .database(recordType: nil))
        func save(
          _ subscription: Subscription, as user: String = TestStore.alice
        ) async throws -> SubscriptionOutcome {
          try await test.subscribe(subscription, as: user, in: test.privateID)
        }
        #expect(try await save(query) == .saved(query))
        #expect(try await save(database) == .saved(database, replaced: .query))
        #expect(try await save(database) == .saved(database))
        #expect(try await save(zone) == .saved(zone, replaced: .database))
        #expect(try await save(query) == .saved(query, replaced: .zone))
        #expect(try await save(noteSubscription("s", badge: true)).failure == nil)
        // Another user's subscription with the ID is no matter, and neither is another database's.
        #expect(try await save(database, as: TestStore.bob) == .saved(database))
        #expect(
          try await test.subscribe(query) == .saved(query))
        #expect(
          try await test.store.subscriptions.subscriptions(of: TestStore.alice, in: test.privateID)
            == [noteSubscription("s", badge: true)])
      }
    }

    @Test("versions tell what was saved and deleted since", arguments: engines)
    func versions(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        #expect(try await store.subscriptions.subscriptionVersion(of: test.publicID) == 0)
        _ = try await test.subscribe(noteSubscription("a"))
        let first = try await store.subscriptions.subscriptionVersion(of: test.publicID)
        #expect(first > 0)
        _ = try await test.subscribe(noteSubscription("b"), as: TestStore.bob)
        _ = try await test.subscribe(noteSubscription("a", badge: true))
        let outcome = try await store.subscriptions.modifySubscriptions(
          [.delete(subscriptionID: "b"), .delete(subscriptionID: "b")], of: TestStore.bob,
          in: test.publicID, timestamp: TestStore.time(0))
        #expect(outcome[0] == .deleted(subscriptionID: "b"))
        #expect(outcome[1].failure?.code == .notFound)
        let changes = try await store.subscriptions.subscriptionChanges(
          in: test.publicID, since: first)
        #expect(!changes.startsAnew)
        #expect(
          changes.saved == [
            StoredSubscription(
              subscriber: TestStore.alice, subscription: noteSubscription("a", badge: true),
              version: first)
          ])
        #expect(
          changes.deleted == [SubscriptionName(subscriber: TestStore.bob, subscriptionID: "b")])
        let nothing = try await store.subscriptions.subscriptionChanges(
          in: test.publicID, since: changes.position.version)
        #expect(nothing.saved.isEmpty && nothing.deleted.isEmpty && !nothing.startsAnew)
        let all = try await store.subscriptions.subscriptionChanges(in: test.publicID)
        #expect(all.startsAnew && all.saved.count == 1 && all.deleted.isEmpty)
      }
    }

    @Test("a subscription deleted and saved again is only saved", arguments: engines)
    func revived(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("a"))
        let version = try await test.store.subscriptions.subscriptionVersion(of: test.publicID)
        _ = try await test.store.subscriptions.modifySubscriptions(
          [.delete(subscriptionID: "a"), .save(noteSubscription("a"))], of: TestStore.alice,
          in: test.publicID, timestamp: TestStore.time(0))
        let changes = try await test.store.subscriptions.subscriptionChanges(
          in: test.publicID, since: version)
        #expect(changes.saved.map(\.subscription.subscriptionID) == ["a"])
        #expect(changes.saved.map(\.version) == [changes.position.version])
        #expect(changes.deleted.isEmpty)
      }
    }

    @Test("forgotten deletions make an old reader start anew", arguments: engines)
    func forgotten(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("a"))
        _ = try await test.subscribe(noteSubscription("b"))
        let version = try await test.store.subscriptions.subscriptionVersion(of: test.publicID)
        _ = try await test.store.subscriptions.modifySubscriptions(
          [.delete(subscriptionID: "a")], of: TestStore.alice, in: test.publicID,
          timestamp: TestStore.time(0))
        try await test.store.maintenance.trim(at: TestStore.time(31 * 24 * 3600))
        let old = try await test.store.subscriptions.subscriptionChanges(
          in: test.publicID, since: version)
        #expect(old.startsAnew)
        #expect(old.saved.map(\.subscription.subscriptionID) == ["b"])
        let current = try await test.store.subscriptions.subscriptionChanges(
          in: test.publicID, since: old.position.version)
        #expect(!current.startsAnew)
      }
    }

    @Test(
      "who reads changes in pieces has what the store has, whatever happens meanwhile",
      arguments: engines, Seeds.some(2))
    func pieces(_ engine: StoreEngine, seed: Int) async throws {
      try await engine.withStore { test in
        var random = SeededGenerator(seed: seed)
        func modify() async throws {
          let operations = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            let name = "s\(Int.random(in: 0..<30, using: &random))"
            return Int.random(in: 0..<3, using: &random) == 0
              ? SubscriptionOperation.delete(subscriptionID: name)
              : .save(noteSubscription(name, badge: Bool.random(using: &random)))
          }
          _ = try await test.store.subscriptions.modifySubscriptions(
            operations, of: random.pick([TestStore.alice, TestStore.bob]), in: test.publicID,
            timestamp: TestStore.time(0))
        }
        for _ in 0..<40 { try await modify() }
        var held: [SubscriptionName: StoredSubscription] = [:]
        var position = SubscriptionPosition.beginning
        var anew = 0
        for round in 0..<60 {
          let changes = try await test.store.subscriptions.subscriptionChanges(
            in: .whole(test.publicID), since: position,
            limit: Int.random(in: 1...6, using: &random))
          if changes.startsAnew {
            held = [:]
            anew += 1
          }
          let before = changes.startsAnew ? 0 : position.version
          #expect(changes.position.version > before || !changes.moreComing)
          for name in changes.deleted { held[name] = nil }
          for stored in changes.saved {
            held[
              SubscriptionName(
                subscriber: stored.subscriber, subscriptionID: stored.subscription.subscriptionID)
            ] = stored
          }
          position = changes.position
          if changes.moreComing {
            if round < 40 { try await modify() }
          } else {
            let all = try await test.store.subscriptions.subscriptionChanges(in: test.publicID)
            #expect(Set(held.values) == Set(all.saved), "seed \(seed), round \(round)")
            #expect(position == all.position)
            for _ in 0..<6 { try await modify() }
            // Deletions before this moment are forgotten.
            if round > 20 {
              try await test.store.maintenance.trim(at: TestStore.time(31 * 24 * 3600))
            }
          }
        }
        #expect(anew >= 1, "seed \(seed)")
      }
    }

    @Test(
      "each record that goes with its parent fires, and none that goes with its zone",
      arguments: engines)
    func cascades(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        func reference(_ name: String) -> RecordValue {
          .reference(Reference(recordName: name, action: .deleteSelf))
        }
        func fill(_ zone: ZoneID) async throws {
          try await test.save("root", zone: zone, in: test.privateID)
          for child in ["a", "b"] {
            try await test.save(child, ["up": reference("root")], zone: zone, in: test.privateID)
          }
          try await test.save("c", ["up": reference("a")], zone: zone, in: test.privateID)
        }
        let zone = try await test.makeZone("z")
        _ = try await test.subscribe(
          noteSubscription("s", options: .firesOnRecordDeletion), in: test.privateID)
        try await test.register("phone")
        try await fill(zone)
        _ = try await test.delete("root", zone: zone, in: test.privateID)
        let result = try await test.dispatch(test.privateID)
        #expect(
          result.logged.compactMap { $0.notification.change.record?.recordID.recordName }.sorted()
            == ["a", "b", "c", "root"])
        #expect(result.deliveries.count == 4)

        try await fill(zone)
        _ = try await test.store.zones.modifyZones(
          [.delete(zone)], in: test.privateID,
          origin: ChangeOrigin(userRecordName: TestStore.alice), timestamp: TestStore.time(0))
        #expect(try await test.dispatch(test.privateID).logged.isEmpty)
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
        #expect(try await test.store.subscriptions.subscriptionVersion(of: test.publicID) == 1)
      }
    }
  }
}
