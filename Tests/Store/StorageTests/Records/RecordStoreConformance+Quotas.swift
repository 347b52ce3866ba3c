import CloudKitModel
import Foundation
import StoreModel
import Testing

extension RecordStoreConformance {
  struct Quotas {
    private static let engines = StoreEngine.allCases

    @Test("a user's subscriptions in a database", arguments: engines)
    func subscriptions(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        func modify(_ operations: [SubscriptionOperation]) async throws -> [ItemFailure.Code?] {
          try await store.subscriptions.modifySubscriptions(
            operations, of: TestStore.alice, in: test.publicID, timestamp: TestStore.time(0)
          ).map { $0.failure?.code }
        }
        func save(_ id: String) -> SubscriptionOperation { .save(noteSubscription(id)) }
        store.quotas.limits[.subscriptionsPerUser] = 3
        #expect(
          try await modify([save("a"), save("b"), save("c"), save("d"), save("e")])
            == [nil, nil, nil, .quotaExceeded, .quotaExceeded])
        let failure = try #require(try await test.subscribe(noteSubscription("d")).failure)
        #expect(failure.limit == 3)
        #expect(
          failure.reason == "subscription 'd' cannot be saved: the user has 3 subscriptions in the "
            + "public database, and the limit is 3. Delete one first")
        // What is there can be saved anew; other users and databases have their own.
        #expect(try await modify([save("a"), save("b"), save("c")]) == [nil, nil, nil])
        #expect(try await test.subscribe(noteSubscription("d"), as: TestStore.bob).failure == nil)
        #expect(
          try await test.subscribe(noteSubscription("d"), in: test.privateID).failure == nil)
        #expect(
          try await modify([.delete(subscriptionID: "b"), save("d"), save("e")])
            == [nil, nil, .quotaExceeded])
        // A store that has more keeps it, and can be cleared up.
        store.quotas.limits[.subscriptionsPerUser] = 1
        #expect(
          try await modify([save("a"), .delete(subscriptionID: "c"), save("f")])
            == [nil, nil, .quotaExceeded])
        #expect(
          try await store.subscriptions.subscriptions(of: TestStore.alice, in: test.publicID)
            .map(\.subscriptionID) == ["a", "d"])
        #expect(store.quotas.refusals == [.subscriptionsPerUser: 5])
      }
    }

    @Test("the containers that users create, in all and in an hour", arguments: engines)
    func containers(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        func failure(
          _ container: String, by user: String?, at seconds: Int64 = 0
        ) async throws -> ItemFailure? {
          do {
            _ = try await store.databases.database(
              at: DatabaseAddress(
                container: container, environment: .production, scope: .public, owner: nil),
              for: user.map {
                ContainerMaker(userRecordName: $0, timestamp: TestStore.time(seconds))
              })
            return nil
          } catch let failure as ItemFailure {
            return failure
          }
        }
        // The test's own container is one of them.
        store.quotas.limits = [.containers: 5, .newContainersPerUser: 2]
        for container in ["a", "b", "a"] {
          #expect(try await failure(container, by: TestStore.alice) == nil)
        }
        let third = try #require(try await failure("c", by: TestStore.alice))
        #expect(third.code == .quotaExceeded && third.limit == 2)
        #expect(
          third.reason
            == "container 'c' would be new: the user has created 2 containers within the "
            + "last hour, and the limit is 2; try again later")
        #expect(try await failure("c", by: TestStore.bob) == nil)
        #expect(try await failure("d", by: TestStore.alice, at: 3_600) == nil)
        let sixth = try #require(try await failure("e", by: TestStore.bob))
        #expect(sixth.code == .quotaExceeded && sixth.limit == 5)
        #expect(sixth.reason.contains("the server has 5 containers, the limit"))
        #expect(try await failure("e", by: nil) == nil)
        #expect(try await failure("e", by: TestStore.bob) == nil)
        #expect(store.quotas.refusals == [.newContainersPerUser: 1, .containers: 1])
      }
    }

    @Test("the zones of a database", arguments: engines)
    func zones(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        func modify(_ operations: [ZoneOperation]) async throws -> [ItemFailure?] {
          try await test.store.zones.modifyZones(
            operations, in: test.privateID, origin: ChangeOrigin(userRecordName: TestStore.alice),
            timestamp: TestStore.time(0)
          ).map { outcome in
            if case .failed(_, let failure) = outcome { failure } else { nil }
          }
        }
        let (a, b, c) = (
          ZoneID(zoneName: "a"), ZoneID(zoneName: "b"), ZoneID(zoneName: "c")
        )
        test.store.quotas.limits[.zonesPerDatabase] = 3
        let made = try await modify([.create(a), .create(b), .create(c), .create(a)])
        #expect(made.map { $0?.code } == [nil, nil, .quotaExceeded, nil])
        #expect(made[2]?.limit == 3)
        #expect(
          made[2]?.reason
            == "zone 'c' cannot be created: the database has 3 zones, and the limit is 3. "
            + "Delete one first", "\(String(describing: made[2]))")
        #expect(try await modify([.delete(a), .create(c)]).map { $0?.code } == [nil, nil])
        #expect(test.store.quotas.refusals == [.zonesPerDatabase: 1])
      }
    }

    @Test("record types and fields that are made by saving", arguments: engines)
    func types(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        func save(_ type: String, _ fields: [String]) async throws -> ItemFailure? {
          var values: RecordFields<RecordValue?> = [:]
          for field in fields { values[field] = .some(.int64(1)) }
          return try await test.modify([
            RecordOperation(
              kind: .forceUpdate, recordID: RecordID(recordName: "of \(type)"), recordType: type,
              fields: values)
          ])[0].failure
        }
        test.store.quotas.limits[.recordTypes] = 2
        test.store.quotas.limits[.fieldsPerRecordType] = 3
        #expect(try await save("A", ["a", "b"]) == nil)
        #expect(try await save("B", []) == nil)
        let type = try #require(try await save("C", []))
        #expect(type.code == .quotaExceeded && type.field == "recordType" && type.limit == 2)
        #expect(
          type.reason
            == "record 'of C in _defaultZone' would create record type 'C': development of "
            + "iCloud.com.example.app has 2 record types, and the limit for types that saving "
            + "creates is 2")
        let field = try #require(try await save("A", ["a", "c", "d"]))
        #expect(field.code == .quotaExceeded && field.field == "c" && field.limit == 3)
        #expect(
          field.reason
            == "record 'of A in _defaultZone' would create 2 new fields, 'c' among them: record type "
            + "'A' has 2, and the limit for fields that saving creates is 3")
        #expect(try await save("A", ["a", "b", "c"]) == nil)
        #expect(try await save("A", ["a", "b", "c"]) == nil)
        #expect(try await save("A", ["d"])?.code == .quotaExceeded)
        #expect(test.store.quotas.refusals == [.recordTypes: 1, .fieldsPerRecordType: 2])
      }
    }

    @Test(
      "a device that a user has is registered again though there are too many", arguments: engines)
    func devices(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        func register(_ token: String, user: String = TestStore.alice) async throws -> Bool {
          try await test.store.devices.saveDeviceToken(
            DeviceToken(
              kind: .apns, token: token, container: TestStore.container, environment: .development,
              apnsEnvironment: .development, userRecordName: user, deviceID: nil,
              registered: TestStore.time(1)), unlessBeyond: 1)
        }
        for token in ["a", "b"] { try await test.register(token) }
        #expect(try await register("b"))
        #expect(try await !register("c"))
        #expect(try await register("c", user: TestStore.bob))
        // Nor does one come by taking it from somebody else.
        #expect(try await !register("c"))
        #expect(test.store.quotas.refusals == [.apnsDevicesPerUser: 2])
        for token in ["a", "b"] {
          #expect(
            try await test.store.devices.removeDeviceToken(
              token, kind: .apns,
              of: Recipient(
                userRecordName: TestStore.alice, container: TestStore.container,
                environment: .development), at: TestStore.time(2)))
        }
        #expect(try await register("c"))
      }
    }

    @Test("the bytes of a user's notification log: the oldest entries go", arguments: engines)
    func logBytes(_ engine: StoreEngine) async throws {
      try await engine.withStore {
        $0.notificationLog.bytes = 10_000
      } _: { test in
        for user in [TestStore.alice, TestStore.bob] {
          let keys = user == TestStore.alice ? ["text"] : nil
          let outcome = try await test.subscribe(
            noteSubscription("notes", desiredKeys: keys), as: user)
          #expect(outcome.failure == nil)
        }
        for number in 0..<20 {
          try await test.save(
            "n\(number)", ["text": .string(String(repeating: "t", count: 1000))],
            at: Int64(number))
          try await test.dispatch(at: Int64(number))
        }
        try await test.store.maintenance.trim(at: TestStore.time(30))
        func names(of user: String) async throws -> [String] {
          let page = try await test.store.notificationLog.notificationLog(
            of: Recipient(
              userRecordName: user, container: TestStore.container, environment: .development),
            since: nil, limit: 100)
          return page.notifications.compactMap { item in
            if case .unread(let entry) = item {
              entry.notification.change.record?.recordID.recordName
            } else {
              nil
            }
          }
        }
        let kept = try await names(of: TestStore.alice)
        #expect((5...9).contains(kept.count), "\(kept)")
        #expect(kept == (20 - kept.count..<20).map { "n\($0)" })
        #expect(try await names(of: TestStore.bob).count == 20)
      }
    }
  }
}
