import CloudKitModel
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  struct Feeds {
    static let engines = StoreEngine.allCases
    private let origin = ChangeOrigin(userRecordName: TestStore.alice, deviceID: "phone")

    @Test(
      "each record appears once by its latest state, deletions with their type, in order",
      arguments: engines)
    func latestStates(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        for name in ["a", "b", "c", "d"] {
          try await test.save(name, zone: zone, in: test.privateID)
        }
        try await test.save("a", ["x": .int64(2)], zone: zone, in: test.privateID)
        _ = try await test.delete("b", zone: zone, in: test.privateID)
        let page = try await test.changes(in: zone)
        // A reader without records does not need deletions.
        #expect(page.names == ["c", "d", "a"])
        #expect(page.changes.last?.record?.fields == ["x": .int64(2)])
        #expect(!page.hasMore)
        _ = try await test.delete("c", zone: zone, in: test.privateID)
        try await test.save("e", type: "Other", zone: zone, in: test.privateID)
        _ = try await test.delete("e", zone: zone, in: test.privateID)
        try await test.save("b", zone: zone, in: test.privateID)
        let next = try await test.changes(in: zone, since: page.token)
        #expect(next.names == ["-c Note", "-e Other", "b"])
        let none = try await test.changes(in: zone, since: next.token)
        #expect(none.changes.isEmpty && !none.hasMore && none.token == next.token)
      }
    }

    @Test("the holders that a deletion takes along are reported too", arguments: engines)
    func cascades(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let up = RecordValue.reference(Reference(recordName: "a", action: .deleteSelf))
        try await test.save("a", zone: zone, in: test.privateID)
        try await test.save("b", ["up": up], zone: zone, in: test.privateID)
        let token = try await test.changes(in: zone).token
        _ = try await test.delete("a", zone: zone, in: test.privateID)
        #expect(try await test.changes(in: zone, since: token).names == ["-a Note", "-b Note"])
      }
    }

    @Test(
      "pages are bounded, and what is committed between them is not skipped", arguments: engines)
    func pages(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        for number in 0..<5 { try await test.save("n\(number)", zone: zone, in: test.privateID) }
        let first = try await test.changes(in: zone, limit: 2)
        #expect(first.names == ["n0", "n1"] && first.hasMore)
        try await test.save("n0", ["x": .int64(1)], zone: zone, in: test.privateID)
        _ = try await test.delete("n1", zone: zone, in: test.privateID)
        _ = try await test.delete("n2", zone: zone, in: test.privateID)
        let second = try await test.changes(in: zone, since: first.token, limit: 2)
        #expect(second.names == ["n3", "n4"] && second.hasMore)
        let third = try await test.changes(in: zone, since: second.token, limit: 3)
        #expect(third.names == ["n0", "-n1 Note", "-n2 Note"] && !third.hasMore)
        let probe = try await test.changes(in: zone, since: first.token, limit: 0)
        #expect(probe.changes.isEmpty && probe.hasMore && probe.token == first.token)
        let empty = try await test.changes(in: zone, since: third.token, limit: 0)
        #expect(!empty.hasMore)
      }
    }

    @Test("a page has at most 200 changes, and ends after so many bytes", arguments: engines)
    func bounds(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let text = RecordValue.string(String(repeating: "x", count: 10_000))
        _ = try await test.modify(
          (0..<250).map { number in
            RecordOperation(
              kind: .create, recordID: RecordID(recordName: "n\(number)", zoneID: zone),
              recordType: "Note", fields: number < 20 ? ["x": text] : [:])
          }, in: test.privateID)
        let page = try await test.changes(in: zone, limit: 1_000)
        #expect(page.changes.count == 200 && page.hasMore && page.size > 200_000)
        let small = try await test.changes(in: zone, sizeLimit: 50_000)
        #expect(small.changes.count == 5 && small.hasMore && small.size > 50_000)
        let one = try await test.changes(in: zone, since: small.token, sizeLimit: 1)
        #expect(one.names == ["n5"] && one.hasMore)
      }
    }

    @Test("the newest change first, and then on from where that began", arguments: engines)
    func reversed(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        for name in ["a", "b", "c", "d"] {
          try await test.save(name, zone: zone, in: test.privateID)
        }
        let first = try await test.changes(in: zone, limit: 2, isReversed: true)
        #expect(first.names == ["d", "c"] && first.hasMore)
        try await test.save("a", ["x": .int64(1)], zone: zone, in: test.privateID)
        try await test.save("e", zone: zone, in: test.privateID)
        #expect(
          await storeError { _ = try await test.changes(in: zone, since: first.token) }
            == .badContinuation)
        let second = try await test.changes(
          in: zone, since: first.token, limit: 2, isReversed: true)
        #expect(second.names == ["b"] && !second.hasMore)
        let third = try await test.changes(in: zone, since: second.token)
        #expect(third.names == ["a", "e"])
        _ = try await test.delete("b", zone: zone, in: test.privateID)
        try await test.save("f", zone: zone, in: test.privateID)
        let fourth = try await test.changes(in: zone, since: third.token, isReversed: true)
        #expect(fourth.names == ["f", "-b Note"])
      }
    }

    @Test("only the types asked for, also where few records are of them", arguments: engines)
    func types(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        for number in 0..<300 {
          try await test.save(
            "n\(number)", type: number % 100 == 50 ? "Rare" : "Note", zone: zone, in: test.privateID
          )
        }
        let page = try await test.changes(in: zone, types: ["Rare", "Unknown"])
        #expect(page.names == ["n50", "n150", "n250"] && !page.hasMore)
        let first = try await test.changes(in: zone, limit: 2, types: ["Rare"])
        #expect(first.names == ["n50", "n150"] && first.hasMore)
        let second = try await test.changes(in: zone, since: first.token, types: ["Rare"])
        #expect(second.names == ["n250"] && !second.hasMore)
        _ = try await test.delete("n50", zone: zone, in: test.privateID)
        _ = try await test.delete("n51", zone: zone, in: test.privateID)
        let third = try await test.changes(in: zone, since: second.token, types: ["Rare"])
        #expect(third.names == ["-n50 Rare"])
      }
    }

    @Test("what the reader may not read neither appears nor ends a page", arguments: engines)
    func hiddenRecords(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let own = RecordGrants(["_creator": .read, "_icloud": .create])
        let outcome = try await test.store.schemas.importSchema(
          ContainerSchema(recordTypes: ["Note": .init(grants: own)]), of: TestStore.container,
          isDryRun: false)
        #expect(outcome.refusals.isEmpty)
        while try await test.store.maintenance.continueIndexWork() != nil {}
        for number in 0..<5 { try await test.save("n\(number)") }
        try await test.save("mine", by: TestStore.bob)
        for number in 5..<8 { try await test.save("n\(number)") }
        let page = try await test.store.changeFeeds.recordChanges(
          matching: RecordChangesQuery(
            zoneID: .default, limit: 1, caller: .user(userRecordName: TestStore.bob)),
          in: test.publicID)
        #expect(page.names == ["mine"] && !page.hasMore)
      }
    }

    @Test("a token ends with its zone, and a zone that is gone says so", arguments: engines)
    func deletedZones(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        try await test.save("a", zone: zone, in: test.privateID)
        let token = try await test.changes(in: zone).token
        try await delete(zone, test)
        #expect(
          await itemFailure { _ = try await test.changes(in: zone, since: token) } == .zoneNotFound)
        #expect(await itemFailure { _ = try await test.changes(in: zone) } == .zoneNotFound)
        #expect(
          await itemFailure { _ = try await test.changes(in: ZoneID(zoneName: "never")) }
            == .zoneNotFound)
        #expect(await itemFailure { _ = try await test.changes(in: .default) } == .invalid)
        try await test.makeZone("z")
        #expect(
          await storeError { _ = try await test.changes(in: zone, since: token) }
            == .changeTokenExpired)
        #expect(try await test.changes(in: zone).changes.isEmpty)
      }
    }

    @Test(
      "a zone that was deleted outside of the app says so, until it is created again",
      arguments: engines)
    func purgedZones(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        try await test.save("a", zone: zone, in: test.privateID)
        let token = try await test.changes(in: zone).token
        let feed = try await test.zoneChanges()
        func modify(
          _ operation: ZoneOperation, byOperator: Bool = false
        ) async throws -> ItemFailure.Code? {
          var origin = ChangeOrigin(userRecordName: TestStore.alice)
          origin.isByOperator = byOperator
          let outcome = try await test.store.zones.modifyZones(
            [operation], in: test.privateID, origin: origin, timestamp: TestStore.time(1))[0]
          return if case .failed(_, let failure) = outcome { failure.code } else { nil }
        }
        #expect(try await modify(.delete(zone), byOperator: true) == nil)
        #expect(try await test.zoneChanges(since: feed.token).changes == [.purged(zone)])
        #expect(
          await itemFailure { _ = try await test.changes(in: zone, since: token) } == .zoneDeleted)
        let save = RecordOperation(
          kind: .create, recordID: RecordID(recordName: "b", zoneID: zone), recordType: "Note")
        let saved = try await test.modify([save], in: test.privateID)
        #expect(saved.map { $0.failure?.code } == [.zoneDeleted])
        let query = RecordQuery(
          query: Query(recordType: "Note"), zoneID: zone, limit: 10,
          caller: .user(userRecordName: TestStore.alice))
        #expect(
          await itemFailure {
            _ = try await test.store.records.records(matching: query, in: test.privateID)
          } == .zoneDeleted)
        #expect(try await modify(.delete(zone)) == .zoneDeleted)
        #expect(try await modify(.create(zone)) == nil)
        #expect(try await modify(.delete(zone)) == nil)
        #expect(await itemFailure { _ = try await test.changes(in: zone) } == .zoneNotFound)
      }
    }

    @Test("the database's feed tells each zone once, but not the default zone", arguments: engines)
    func databaseFeed(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        #expect(try await test.zoneChanges().names == [])
        for name in ["a", "b", "c"] { try await test.makeZone(name) }
        try await test.save("n", zone: ZoneID(zoneName: "a"), in: test.privateID)
        try await test.save("n", in: test.privateID)
        let first = try await test.zoneChanges(limit: 2)
        #expect(first.names == ["b", "c"] && first.hasMore)
        try await delete(ZoneID(zoneName: "b"), test)
        try await test.save("n", zone: ZoneID(zoneName: "c"), in: test.privateID)
        let second = try await test.zoneChanges(since: first.token)
        #expect(second.names == ["a", "-b", "c"] && !second.hasMore)
        try await test.makeZone("b")
        try await test.save("n", in: test.privateID)
        let third = try await test.zoneChanges(since: second.token)
        #expect(third.names == ["b"])
        let none = try await test.zoneChanges(since: third.token)
        #expect(none.names == [] && none.token == third.token)
        // Who begins now hears nothing of zones that are gone.
        try await delete(ZoneID(zoneName: "c"), test)
        #expect(try await test.zoneChanges().names == ["a", "b"])
      }
    }

    @Test("what is no token, or one of another feed, is refused", arguments: engines)
    func foreignTokens(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let other = try await test.makeZone("y")
        try await test.save("a", zone: zone, in: test.privateID)
        let token = try await test.changes(in: zone).token
        let databaseToken = try await test.zoneChanges().token
        for text in ["", "x", "AAAA", String(token.dropLast(4)), "A" + token.dropFirst()] {
          #expect(
            await storeError { _ = try await test.changes(in: zone, since: text) }
              == .changeTokenExpired)
          #expect(
            await storeError { _ = try await test.zoneChanges(since: text) }
              == .changeTokenExpired)
        }
        #expect(
          await storeError { _ = try await test.changes(in: zone, since: databaseToken) }
            == .badContinuation)
        #expect(
          await storeError { _ = try await test.zoneChanges(since: token) } == .badContinuation)
        #expect(
          await storeError { _ = try await test.changes(in: other, since: token) }
            == .changeTokenExpired)
        let database = try await test.store.databases.database(
          at: TestStore.address(.private, owner: TestStore.bob))
        #expect(
          await storeError {
            _ = try await test.zoneChanges(since: databaseToken, limit: 9, in: database)
          } == .changeTokenExpired)
        // A store that was put back to an earlier state does not know of the future.
        var future = try ChangeToken(token, sealedBy: test.store.secrets.tokens)
        future.position += 100
        let text = try future.text(sealedBy: test.store.secrets.tokens)
        #expect(
          await storeError { _ = try await test.changes(in: zone, since: text) }
            == .changeTokenExpired)
      }
    }

    @Test("a forgotten deletion ends the tokens from before it, and no others", arguments: engines)
    func trimming(_ engine: StoreEngine) async throws {
      try await engine.withStore(keepingDeletionsFor: 1_000) { test in
        let zone = try await test.makeZone("z")
        let gone = try await test.makeZone("gone")
        for number in 0..<600 {
          try await test.save("n\(number)", zone: zone, in: test.privateID)
        }
        let before = try await test.changes(in: zone, limit: 1).token
        let databaseBefore = try await test.zoneChanges(limit: 1).token
        let begun = try await test.changes(in: zone, limit: 5, isReversed: true)
        _ = try await test.modify(
          (0..<590).map { number in
            RecordOperation(
              kind: .forceDelete, recordID: RecordID(recordName: "n\(number)", zoneID: zone))
          }, in: test.privateID, at: 100)
        try await delete(gone, test, at: 100)
        let after = try await test.changes(in: zone, since: before, limit: 200)
        #expect(after.hasMore)
        // Begun with nothing since the deletions: they are nothing to it.
        let fresh = try await test.changes(in: zone, limit: 1)
        let databaseFresh = try await test.zoneChanges(limit: 1)
        _ = try await test.modify(
          [
            RecordOperation(
              kind: .forceDelete, recordID: RecordID(recordName: "n599", zoneID: zone))
          ], in: test.privateID, at: 2_000)

        try await test.store.maintenance.trim(at: TestStore.time(1_100))
        #expect(try await test.changes(in: zone, since: before).changes.count == 200)
        try await test.store.maintenance.trim(at: TestStore.time(1_101))
        for token in [before, begun.token, after.token] {
          #expect(
            await storeError {
              _ = try await test.changes(
                in: zone, since: token, isReversed: token == begun.token)
            } == .changeTokenExpired)
        }
        #expect(
          await storeError { _ = try await test.zoneChanges(since: databaseBefore) }
            == .changeTokenExpired)
        let rest = try await test.changes(in: zone, since: fresh.token)
        #expect(
          Set(fresh.names + rest.names)
            == Set((590..<599).map { "n\($0)" } + (fresh.names + ["-n599 Note"])))
        #expect(try await test.zoneChanges(since: databaseFresh.token).names == ["z"])
        #expect(await itemFailure { _ = try await test.changes(in: gone) } == .zoneNotFound)
        let done = try await test.changes(in: zone)
        try await test.store.maintenance.trim(at: TestStore.time(10_000))
        #expect(try await test.changes(in: zone, since: done.token).changes.isEmpty)
      }
    }

    @Test("a device is told what it left with its own last change of the zone", arguments: engines)
    func clientTokens(_ engine: StoreEngine) async throws {
      try await engine.withStore(keepingDeletionsFor: 1_000) { test in
        let zone = try await test.makeZone("z")
        let other = try await test.makeZone("y")
        func leave(
          _ data: [UInt8], device: String?, zone: ZoneID, kind: RecordOperation.Kind = .forceUpdate
        ) async throws {
          var change = RecordModification(
            database: test.privateID,
            operations: [
              RecordOperation(
                kind: kind, recordID: RecordID(recordName: "a", zoneID: zone), recordType: "Note")
            ], isAtomic: true, origin: ChangeOrigin(userRecordName: TestStore.alice),
            isByAdministrator: true, timestamp: TestStore.time(0))
          change.clientChangeToken = ClientChangeToken(data: data, deviceID: device)
          _ = try await test.store.records.modifyRecords(change)
        }
        func told(_ device: String?, _ zone: ZoneID) async throws -> [UInt8]? {
          try await test.store.changeFeeds.recordChanges(
            matching: RecordChangesQuery(
              zoneID: zone,
              caller: .user(userRecordName: TestStore.alice), deviceID: device),
            in: test.privateID
          ).clientChangeToken
        }
        #expect(try await told("phone", zone) == nil)
        try await leave([1], device: "phone", zone: zone)
        try await leave([2, 0], device: "phone", zone: zone)
        try await leave([3], device: nil, zone: zone)
        // Nothing of an atomic request that failed is kept.
        try await leave([9], device: "phone", zone: zone, kind: .create)
        #expect(try await told("phone", zone) == [2, 0])
        #expect(try await told(nil, zone) == [3])
        #expect(try await told("mac", zone) == nil)
        #expect(try await told("phone", other) == nil)
        try await test.store.maintenance.trim(at: TestStore.time(1_001))
        #expect(try await told("phone", zone) == nil)
        try await leave([4], device: "phone", zone: other)
        try await delete(other, test)
        try await test.makeZone("y")
        #expect(try await told("phone", other) == nil)
      }
    }

    private func delete(_ zone: ZoneID, _ test: TestStore, at seconds: Int64 = 0) async throws {
      let outcomes = try await test.store.zones.modifyZones(
        [.delete(zone)], in: test.privateID, origin: origin, timestamp: TestStore.time(seconds))
      #expect(outcomes.map(\.summary) == ["deleted"])
    }
  }
}
