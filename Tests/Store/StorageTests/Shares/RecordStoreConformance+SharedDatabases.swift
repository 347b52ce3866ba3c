import CloudKitModel
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  /// The records of others that participants see, and the operations that they may carry out.
  struct SharedDatabases {
    static let engines = StoreEngine.allCases

    /// A zone with a shared hierarchy, and records above and beside it.
    private func withHierarchy(
      _ engine: StoreEngine, _ permission: SharePermission = .readWrite,
      _ role: ShareRole = .privateUser,
      _ body: (SharingUser, SharingUser, ZoneID, _ link: String) async throws -> Void
    ) async throws {
      try await engine.withStore { test in
        let alice = try await SharingUser(TestStore.alice, test)
        let bob = try await SharingUser(TestStore.bob, test)
        let zone = try await test.makeZone("z")
        try await alice.save(
          [
            ("top", nil), ("root", "top"), ("child", "root"), ("leaf", "child"), ("beside", nil),
          ], in: zone)
        let link = try await alice.share(
          "root", in: zone, with: [SharingUser.participant(bob.name, permission, role)])
        try await body(alice, bob, zone, link)
      }
    }

    @Test(
      "a participant sees the share, the root and its descendants, and nothing else",
      arguments: engines)
    func visibility(_ engine: StoreEngine) async throws {
      try await withHierarchy(engine) { alice, bob, zone, link in
        let names = ["top", "root", "child", "leaf", "beside", "share-root"]
        for name in names {
          #expect(try await bob.record(name, in: zone.ofAlice) == nil)
        }
        #expect(try await bob.zones() == [])
        let refused = await itemFailure { _ = try await bob.found(in: zone.ofAlice) }
        #expect(refused == .zoneNotFound)

        try await bob.accept(link)
        #expect(try await bob.zones() == [zone.ofAlice])
        #expect(try await bob.found(in: zone.ofAlice) == ["child", "leaf", "root"])
        #expect(
          try await bob.found(in: zone.ofAlice, type: ShareContent.recordType) == ["share-root"])
        for name in names {
          let record = try await bob.record(name, in: zone.ofAlice)
          #expect((record == nil) == ["top", "beside"].contains(name), "\(name)")
          #expect(record?.recordID.zoneID ?? zone.ofAlice == zone.ofAlice)
        }
        let root = try #require(try await bob.record("root", in: zone.ofAlice))
        #expect(root.parent == nil && root.share?.recordName == "share-root")
        #expect(try await bob.record("child", in: zone.ofAlice)?.parent?.recordName == "root")
        let share = try #require(try await bob.record("share-root", in: zone.ofAlice))
        #expect(share.shareContent?.currentParticipant?.identity.userRecordName == bob.name)
        // The participant's own zone of that name is another one, and so is the owner's view.
        #expect(try await bob.record("root", in: zone) == nil)
        #expect(try await alice.zones() == [])
        #expect(try await alice.record("root", in: zone.ofAlice) == nil)
        // A query names the zone.
        let all = await itemFailure {
          _ = try await bob.test.store.records.records(
            matching: RecordQuery(query: Query(recordType: "Item"), zoneID: nil, limit: 10),
            in: bob.sharedID)
        }
        #expect(all == .invalid)
        // In the private database, another user's zone is in the wrong database.
        let misplaced = try await bob.test.modify(
          [SharingUser.changing("child", in: zone.ofAlice)], in: bob.privateID, by: bob.name)
        #expect(misplaced.map(\.summary) == ["badDatabase"])
      }
    }

    @Test(
      "each role may do what its permission says", arguments: engines,
      [
        (ShareRole.privateUser, SharePermission.readOnly), (.privateUser, .readWrite),
        (.administrator, .readWrite),
      ])
    func rights(_ engine: StoreEngine, _ part: (ShareRole, SharePermission)) async throws {
      let (role, permission) = part
      let mayWrite = permission == .readWrite
      try await withHierarchy(engine, permission, role) { alice, bob, zone, link in
        let theirs = zone.ofAlice
        let before = try await bob.modify([SharingUser.changing("child", in: theirs)])
        #expect(before.map(\.summary) == ["zoneNotFound"])
        try await bob.accept(link)
        let written = mayWrite ? "saved" : "accessDenied"
        let expected: [(RecordOperation, String)] = [
          (SharingUser.changing("child", in: theirs, ["a": .int64(1)]), written),
          (SharingUser.changing("root", in: theirs, ["a": .int64(1)]), written),
          (SharingUser.saving("new", below: "leaf", in: theirs), written),
          (SharingUser.saving("leaf", below: "root", in: theirs), written),
          (SharingUser.saving("loose", below: nil, in: theirs), "accessDenied"),
          (SharingUser.saving("leaf", below: nil, in: theirs), "accessDenied"),
          (SharingUser.saving("root", below: "leaf", in: theirs), "accessDenied"),
          // What is not shared does not exist.
          (SharingUser.saving("new2", below: "beside", in: theirs), "referenceMissing"),
          (
            SharingUser.saving("leaf", below: "top", in: theirs),
            mayWrite ? "referenceMissing" : "accessDenied"
          ),
          (SharingUser.deleting("beside", in: theirs), "deleted"),
          (SharingUser.changing("beside", in: theirs), "accessDenied"),
          (
            RecordOperation(
              kind: .update, recordID: RecordID(recordName: "beside", zoneID: theirs),
              recordChangeTag: "1", fields: [:]), "notFound"
          ),
          (
            SharingUser.changing(
              "child", in: theirs,
              ["r": .reference(Reference(recordName: "beside", action: .validate))]),
            mayWrite ? "referenceMissing" : "accessDenied"
          ),
          (SharingUser.deleting("root", in: theirs), "accessDenied"),
          (
            RecordOperation(
              kind: .create, recordID: RecordID(recordName: "share2", zoneID: theirs),
              recordType: ShareContent.recordType,
              shareContent: ShareContent(root: .init(recordName: "leaf"))), "accessDenied"
          ),
          (
            RecordOperation(
              kind: .forceUpdate, recordID: RecordID(recordName: "share-root", zoneID: theirs),
              recordType: ShareContent.recordType, fields: ["cloudkit.title": .string("t")]),
            role == .administrator ? "saved" : "accessDenied"
          ),
          (SharingUser.deleting("leaf", in: theirs), mayWrite ? "referenced" : "accessDenied"),
          (SharingUser.deleting("new", in: theirs), "deleted"),
          (SharingUser.changing("x", in: zone), "zoneNotFound"),
        ]
        for (operation, summary) in expected {
          let outcome = try await bob.modify([operation])[0]
          #expect(outcome.summary == summary, "\(operation): \(outcome)")
          // The answers have the names of the participant's database.
          if let record = outcome.record { #expect(record.recordID.zoneID == theirs) }
          #expect(
            outcome.failure?.reason.contains("beside") != true || summary == "referenceMissing"
              || operation.recordID.recordName == "beside")
        }
        let other = try await alice.test.record("beside", zone: zone, in: alice.privateID)
        #expect(other != nil)
        let root = try #require(
          try await alice.test.record("root", zone: zone, in: alice.privateID))
        #expect(root.parent?.recordName == "top")
        let child = try await alice.test.record("child", zone: zone, in: alice.privateID)
        if mayWrite {
          #expect(child?.modified?.userRecordName == bob.name)
          #expect(child?.created?.userRecordName == alice.name)
        }
      }
    }

    @Test("a participant leaves by the share, and by the zone", arguments: engines)
    func leaving(_ engine: StoreEngine) async throws {
      try await withHierarchy(engine, .readOnly) { alice, bob, zone, link in
        for leavesByZone in [false, true] {
          try await bob.accept(link)
          if leavesByZone {
            let outcomes = try await bob.test.store.zones.modifyZones(
              [.create(ZoneID(zoneName: "y")), .delete(zone.ofAlice), .delete(zone.ofAlice)],
              in: bob.sharedID, origin: ChangeOrigin(userRecordName: bob.name),
              timestamp: TestStore.time(2))
            let codes = outcomes.map {
              if case .failed(_, let failure) = $0 { failure.code } else { ItemFailure.Code?.none }
            }
            #expect(codes == [.badDatabase, nil, .zoneNotFound])
          } else {
            // After the share is left, the zone does not exist any more.
            let outcomes = try await bob.modify([
              SharingUser.deleting("share-root", in: zone.ofAlice),
              SharingUser.changing("child", in: zone.ofAlice),
            ])
            #expect(outcomes.map(\.summary) == ["deleted", "zoneNotFound"])
          }
          #expect(try await bob.zones() == [])
          #expect(try await bob.record("child", in: zone.ofAlice) == nil)
          let share = try #require(
            try await alice.test.record("share-root", zone: zone, in: alice.privateID))
          #expect(share.shareContent?.participants?.map(\.role) == [.owner])
          #expect(await itemFailure { try await bob.accept(link) } == .accessDenied)
          _ = try await alice.share(
            "root", in: zone, with: [SharingUser.participant(bob.name, .readOnly)])
        }
      }
    }

    @Test("the end of a share ends what its participants see", arguments: engines)
    func ends(_ engine: StoreEngine) async throws {
      try await withHierarchy(engine) { alice, bob, zone, link in
        try await bob.accept(link)
        let ended = try await alice.test.modify(
          [SharingUser.deleting("share-root", in: zone)], in: alice.privateID)
        #expect(ended.map(\.summary) == ["deleted"])
        #expect(try await bob.zones() == [])
        #expect(try await bob.record("child", in: zone.ofAlice) == nil)
        let outcomes = try await bob.modify([SharingUser.changing("child", in: zone.ofAlice)])
        #expect(outcomes.map(\.summary) == ["zoneNotFound"])
      }
    }

    @Test("a participant of a zone sees all records, and creates some", arguments: engines)
    func zones(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let alice = try await SharingUser(TestStore.alice, test)
        let bob = try await SharingUser(TestStore.bob, test)
        let zone = try await test.makeZone("z")
        _ = try await test.makeZone("hidden")
        try await alice.save([("a", nil), ("b", "a")], in: zone)
        let link = try await alice.share(nil, in: zone, publicPermission: .readWrite)
        try await bob.accept(link)
        #expect(try await bob.found(in: zone.ofAlice) == ["a", "b"])
        let created = try await bob.modify([SharingUser.saving("c", below: nil, in: zone.ofAlice)])
        #expect(created.map(\.summary) == ["saved"])
        #expect(created[0].record?.created?.userRecordName == bob.name)
        let hidden = try await bob.modify([
          SharingUser.saving("c", below: nil, in: ZoneID(zoneName: "hidden").ofAlice)
        ])
        #expect(hidden.map(\.summary) == ["zoneNotFound"])
        // The record of a user is in the user's own databases.
        let userRecord = try await bob.modify([
          RecordOperation(
            kind: .create, recordID: RecordID(recordName: bob.name, zoneID: zone.ofAlice),
            recordType: "Users")
        ])
        #expect(userRecord.map(\.summary) == ["invalid"])
        // The present permission of the share counts.
        _ = try await alice.share(nil, in: zone, publicPermission: .readOnly)
        let refused = try await bob.modify([SharingUser.saving("d", below: nil, in: zone.ofAlice)])
        #expect(refused.map(\.summary) == ["accessDenied"])
        let repeated = try await bob.modify(
          [SharingUser.deleting(ShareContent.zoneShareName, in: zone.ofAlice)])
        #expect(repeated.map(\.summary) == ["deleted"])
        #expect(try await bob.zones() == [])
      }
    }

    @Test("references name the zones of each user's own database", arguments: engines)
    func references(_ engine: StoreEngine) async throws {
      try await withHierarchy(engine) { alice, bob, zone, link in
        try await bob.accept(link)
        // A zone of the same name in the user's own database is another one.
        for other in [ZoneID(zoneName: zone.zoneName), ZoneID(zoneName: "mine")] {
          let refused = try await bob.modify([
            SharingUser.changing(
              "child", in: zone.ofAlice,
              ["mine": .reference(Reference(recordName: "leaf", zoneID: other))])
          ])
          #expect(refused[0].failure?.code == .invalid && refused[0].failure?.field == "mine")
        }
        let outcomes = try await bob.modify([
          SharingUser.changing(
            "child", in: zone.ofAlice,
            ["theirs": .reference(Reference(recordName: "leaf", zoneID: zone.ofAlice))])
        ])
        #expect(
          outcomes[0].record?.fields["theirs"]?.references.map(\.zoneID) == [zone.ofAlice],
          "\(outcomes)")
        let stored = try #require(
          try await alice.test.record("child", zone: zone, in: alice.privateID))
        #expect(stored.fields["theirs"]?.references.map(\.zoneID) == [zone])
        let filter = Filter(
          .field("theirs"), .equals,
          .reference(Reference(recordName: "leaf", zoneID: zone.ofAlice)))
        let page = try await bob.test.store.records.records(
          matching: RecordQuery(
            query: Query(recordType: "Item", filters: [filter]), zoneID: zone.ofAlice, limit: 10),
          in: bob.sharedID)
        #expect(page.records.map(\.recordID.recordName) == ["child"])
      }
    }

    @Test("a repeated request of a participant changes nothing again", arguments: engines)
    func repeated(_ engine: StoreEngine) async throws {
      try await withHierarchy(engine) { alice, bob, zone, link in
        try await bob.accept(link)
        let operations = [SharingUser.saving("new", below: "root", in: zone.ofAlice)]
        let first = try await bob.modify(operations, requestID: "r")
        let second = try await bob.modify(operations, requestID: "r")
        #expect(first == second && first.map(\.summary) == ["saved"])
        try await alice.save([("new", "top")], in: zone)
        let third = try await bob.modify(operations, requestID: "r")
        #expect(third.map(\.summary) == ["notFound"])
      }
    }

    @Test("the devices of other users stay hidden, and in the owner's records", arguments: engines)
    func devices(_ engine: StoreEngine) async throws {
      try await withHierarchy(engine) { alice, bob, zone, link in
        try await bob.accept(link)
        _ = try await alice.test.modify(
          [SharingUser.saving("new", below: "root", in: zone)], in: alice.privateID,
          by: alice.name, device: "alices-phone")
        let seen = try #require(try await bob.record("new", in: zone.ofAlice))
        #expect(seen.created?.deviceID == nil && seen.modified?.deviceID == nil)
        let saved = try await bob.modify([SharingUser.changing("new", in: zone.ofAlice)])
        #expect(saved[0].record?.created?.deviceID == nil)
        let stored = try await alice.test.record("new", zone: zone, in: alice.privateID)
        #expect(stored?.created?.deviceID == "alices-phone")
      }
    }
  }
}
