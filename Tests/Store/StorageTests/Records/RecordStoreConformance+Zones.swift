import CloudKitModel
import Storage
import StoreModel
import Testing

extension RecordStoreConformance {
  struct Places {
    static let engines = StoreEngine.allCases
    private let origin = ChangeOrigin(userRecordName: TestStore.alice, deviceID: "phone")

    @Test("an address has one database, made on first use", arguments: engines)
    func databases(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        var addresses = [TestStore.address(.public), TestStore.address(.shared, owner: "_a")]
        addresses.append(TestStore.address(.private, owner: "_b"))
        var production = addresses[0]
        production.environment = .production
        addresses.append(production)
        var ids: Set<DatabaseID> = []
        for address in addresses {
          let id = try await store.databases.database(at: address)
          #expect(try await store.databases.database(at: address) == id)
          #expect(try await store.databases.address(of: id) == address)
          // A shared database has no zone of its own.
          let zones: [ZoneID] = address.scope == .shared ? [] : [.default]
          #expect(try await store.zones.zones(in: id).map(\.zoneID) == zones)
          ids.insert(id)
        }
        #expect(ids.count == 4)
        let unknown = DatabaseID(rawValue: 999)
        #expect(
          await storeError { _ = try await store.databases.address(of: unknown) } == .notFound)
        #expect(await storeError { _ = try await store.zones.zones(in: unknown) } == .notFound)
        #expect(
          await storeError { _ = try await test.modify([], in: unknown) } == .notFound)
        #expect(
          await storeError { _ = try await store.subscriptions.subscriptionVersion(of: unknown) }
            == .notFound)
      }
    }

    @Test("concurrent first uses of an address agree", arguments: engines)
    func databaseRace(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let address = TestStore.address(.private, owner: "_race")
        let ids = try await withThrowingTaskGroup(of: DatabaseID.self) { group in
          for _ in 0..<16 { group.addTask { try await test.store.databases.database(at: address) } }
          return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
      }
    }

    @Test("users have one record name each, and unique names", arguments: engines)
    func users(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        let zoe = try await store.accounts.addUser(named: "zoe", at: TestStore.time(1))
        let amir = try await store.accounts.addUser(named: "amir", at: TestStore.time(2))
        #expect(zoe.userRecordName.count == 33 && zoe.userRecordName.hasPrefix("_"))
        #expect(zoe.userRecordName.dropFirst().allSatisfy { $0.isHexDigit })
        #expect(
          await storeError { _ = try await store.accounts.addUser(named: "zoe", at: .now) }
            == .exists)
        #expect(try await store.accounts.user(named: "zoe") == zoe)
        #expect(try await store.accounts.user(withRecordName: amir.userRecordName) == amir)
        #expect(try await store.accounts.user(named: "nobody") == nil)
        #expect(try await store.accounts.users() == [amir, zoe])
      }
    }

    @Test("web auth tokens are found by their hash until they expire", arguments: engines)
    func webAuthTokens(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let token = WebAuthToken(
          hash: [1, 2, 255], userRecordName: "_a", created: TestStore.time(0),
          expires: TestStore.time(10))
        try await test.store.accounts.addWebAuthToken(token)
        #expect(try await test.store.accounts.webAuthToken(withHash: [1, 2, 255]) == token)
        #expect(try await test.store.accounts.webAuthToken(withHash: [1, 2]) == nil)
        try await test.store.maintenance.trim(at: TestStore.time(10))
        #expect(try await test.store.accounts.webAuthToken(withHash: [1, 2, 255]) == nil)
      }
    }

    @Test("zones are made and deleted with their events", arguments: engines)
    func zones(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        try await test.watch()
        let store = test.store
        let zone = ZoneID(zoneName: "b")
        let outcomes = try await store.zones.modifyZones(
          [
            .create(zone), .create(zone), .create(ZoneID(zoneName: "a")),
            .create(ZoneID(zoneName: "_x")), .create(.default), .delete(.default),
            .delete(ZoneID(zoneName: "none")),
          ], in: test.privateID, origin: origin, timestamp: TestStore.time(4))
        #expect(
          outcomes.map(\.summary) == [
            "saved", "saved", "saved", "invalid", "saved", "invalid", "zoneNotFound",
          ])
        let listed = try await store.zones.zones(in: test.privateID).map(\.zoneID.zoneName)
        #expect(listed == [ZoneID.defaultZoneName, "a", "b"])
        try await test.save("n", ["x": .int64(1)], zone: zone, in: test.privateID)
        try await test.save("n", in: test.privateID)
        let deleted = try await store.zones.modifyZones(
          [.delete(zone)], in: test.privateID, origin: origin, timestamp: TestStore.time(5))
        #expect(deleted.map(\.summary) == ["deleted"])
        let entries = try await test.outbox(of: test.privateID)
        #expect(
          entries.map(\.change.event) == [
            .zoneCreated, .zoneCreated, .recordCreated, .recordCreated, .zoneDeleted,
          ])
        #expect(entries.last?.change.zoneID == zone)
        #expect(entries.last?.change.deviceID == "phone")
        #expect(entries.last?.change.timestamp == TestStore.time(5))
        #expect(try await test.record("n", zone: zone, in: test.privateID) == nil)
        #expect(try await test.record("n", in: test.privateID) != nil)
        let failed = try await test.modify(
          [RecordOperation(kind: .create, recordID: RecordID(recordName: "m", zoneID: zone))],
          in: test.privateID)
        #expect(failed.map(\.summary) == ["zoneNotFound"])
      }
    }

    @Test("a zone made again is empty, also for queries", arguments: engines)
    func zoneAgain(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let up = RecordValue.reference(Reference(recordName: "a", action: .deleteSelf))
        try await test.save("a", ["x": .int64(1)], zone: zone, in: test.privateID)
        try await test.save("b", ["x": .int64(1), "up": up], zone: zone, in: test.privateID)
        _ = try await test.store.zones.modifyZones(
          [.delete(zone), .create(zone)], in: test.privateID, origin: origin,
          timestamp: TestStore.time(5))
        try await test.save("a", ["x": .int64(1)], zone: zone, in: test.privateID)
        let query = Query(
          recordType: "Note", filters: [Filter(.field("x"), .equals, .int64(1))])
        let page = try await test.store.records.records(
          matching: RecordQuery(query: query, zoneID: nil, limit: 10), in: test.privateID)
        #expect(page.records.map(\.recordID.recordName) == ["a"])
      }
    }

    @Test("a zone's version rises with each commit in it and with no other", arguments: engines)
    func versions(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        func versions() async throws -> [Int64] {
          try await test.store.zones.zones(in: test.privateID).map(\.version)
        }
        let start = try await versions()
        try await test.save("n", zone: zone, in: test.privateID)
        let saved = try await versions()
        #expect(saved[0] == start[0] && saved[1] > start[1])
        _ = try await test.modify(
          [
            RecordOperation(
              kind: .update, recordID: RecordID(recordName: "none", zoneID: zone))
          ], in: test.privateID, atomic: true)
        #expect(try await versions() == saved)
        _ = try await test.delete("n", zone: zone, in: test.privateID)
        #expect(try await versions()[1] > saved[1])
      }
    }
  }
}

extension ZoneOutcome {
  var summary: String {
    switch self {
    case .saved: "saved"
    case .deleted: "deleted"
    case .failed(_, let failure): "\(failure.code)"
    }
  }
}
