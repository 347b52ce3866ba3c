import CloudKitModel
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  /// Deletions that references carry on: a record goes with another one only where the user who
  /// deletes could delete it directly.
  struct Cascades {
    static let engines = StoreEngine.allCases

    /// Alice's zone with two shared hierarchies: `a`, in which Bob and Carol may write, and `b`, in
    /// which Bob may write and Carol may read. Bob has hung the item of `b` on the bait in `a`.
    private struct World {
      let zone: ZoneID
      let alice: SharingUser
      let bob: SharingUser
      let carol: SharingUser

      init(_ test: TestStore) async throws {
        zone = try await test.makeZone("z")
        alice = try await SharingUser(TestStore.alice, test)
        bob = try await SharingUser(TestStore.bob, test)
        carol = try await SharingUser("_carol", test)
        for user in [bob, carol] { try await user.subscribe() }
        for root in ["a", "b"] {
          let link = try await alice.share(
            root, in: zone,
            with: [
              SharingUser.participant(bob.name),
              SharingUser.participant(carol.name, root == "a" ? .readWrite : .readOnly),
            ])
          for user in [bob, carol] { try await user.accept(link) }
        }
        let outcomes = try await bob.modify([
          SharingUser.saving("bait", below: "a", in: zone.ofAlice),
          SharingUser.saving("other", below: "a", in: zone.ofAlice, Self.hung(on: "bait")),
          SharingUser.saving("item", below: "b", in: zone.ofAlice, Self.hung(on: "bait")),
          SharingUser.saving("below", below: "item", in: zone.ofAlice, Self.hung(on: "item")),
        ])
        #expect(outcomes.map(\.summary) == ["saved", "saved", "saved", "saved"], "\(outcomes)")
      }

      static func hung(on target: String) -> RecordFields<RecordValue?> {
        ["with": .reference(Reference(recordName: target, action: .deleteSelf))]
      }

      func hang(_ name: String, on target: String) -> RecordOperation {
        SharingUser.changing(name, in: zone.ofAlice, Self.hung(on: target))
      }

      /// The names of Alice's records, with those of her shares.
      func names() async throws -> Set<String> {
        try await Set(stored().keys)
      }

      func stored() async throws -> [String: Record] {
        let names = ["a", "b", "bait", "other", "item", "below", "share-a", "share-b", "hidden"]
        let found = try await alice.test.store.records.records(
          names.map { RecordID(recordName: $0, zoneID: zone) }, in: alice.privateID)
        return Dictionary(
          uniqueKeysWithValues: found.compactMap(\.self).map { ($0.recordID.recordName, $0) })
      }
    }

    private static let kept: Set = ["a", "b", "item", "below", "share-a", "share-b"]

    /// An event that ends a user's right to delete the records of `b`, while the right in `a` stays.
    enum Departure: String, CaseIterable {
      case leaves, isRemoved, mayOnlyRead
    }

    @Test(
      "a reference deletes no record for a user whose part in its share has ended",
      arguments: engines, Departure.allCases)
    func departures(_ engine: StoreEngine, _ departure: Departure) async throws {
      try await engine.withStore { test in
        let world = try await World(test)
        let (zone, bob) = (world.zone, world.bob)
        switch departure {
        case .leaves:
          let left = try await bob.modify([SharingUser.deleting("share-b", in: zone.ofAlice)])
          #expect(left[0].summary == "deleted")
        case .isRemoved:
          _ = try await world.alice.share("b", in: zone, with: [])
        case .mayOnlyRead:
          _ = try await world.alice.share(
            "b", in: zone, with: [SharingUser.participant(bob.name, .readOnly)])
        }
        let before = try await world.stored()
        let deleted = try await bob.modify([SharingUser.deleting("bait", in: zone.ofAlice)])
        #expect(deleted.map(\.summary) == ["deleted"])
        // The other record of the same share goes with the deleted one.
        #expect(try await world.names() == Self.kept)
        let after = try await world.stored()
        for name in ["b", "item", "below", "share-b"] { #expect(after[name] == before[name]) }
      }
    }

    @Test(
      "a reference deletes no record for an accomplice who may only read it, and nobody learns of one",
      arguments: engines)
    func accomplices(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let world = try await World(test)
        try await test.dispatchAll()
        let before = try await world.stored()
        let start = try #require(try await test.store.databases.usage(of: test.privateID)).bytes
        let deleted = try await world.carol.modify([
          SharingUser.deleting("bait", in: world.zone.ofAlice)
        ])
        #expect(deleted.map(\.summary) == ["deleted"])
        #expect(try await world.names() == Self.kept)
        let logged = try await test.dispatchWithForwards()
        #expect(
          Set(logged.lines(of: world.bob))
            == ["all recordDeleted bait Item", "all recordDeleted other Item"])
        #expect(try await world.stored()["item"] == before["item"])
        let end = try #require(try await test.store.databases.usage(of: test.privateID)).bytes
        #expect(end < start)
        // The owner's deletion of a new record with the name goes on where the reference leads.
        try await world.alice.save([("bait", "a")], in: world.zone)
        let byOwner = try await test.delete("bait", zone: world.zone, in: test.privateID)
        #expect(byOwner.summary == "deleted")
        #expect(try await world.names() == ["a", "b", "share-a", "share-b"])
      }
    }

    @Test("a participant hangs neither a root nor a share on another record", arguments: engines)
    func traps(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let world = try await World(test)
        let (zone, alice) = (world.zone, world.alice)
        let trapped = try await world.bob.modify([world.hang("a", on: "bait")])
        #expect(trapped.map(\.summary) == ["accessDenied"])
        #expect(trapped[0].failure?.reason.contains("only the owner may delete the root") == true)
        _ = try await alice.share(
          "a", in: zone,
          with: [
            SharingUser.participant(world.bob.name, .readWrite, .administrator),
            SharingUser.participant(world.carol.name),
          ])
        let ended = try await world.bob.modify([
          RecordOperation(
            kind: .forceUpdate, recordID: RecordID(recordName: "share-a", zoneID: zone.ofAlice),
            recordType: ShareContent.recordType, fields: World.hung(on: "bait"))
        ])
        #expect(ended.map(\.summary) == ["accessDenied"])
        #expect(ended[0].failure?.reason.contains("only the owner may end a share") == true)
        // The owner does what the participants may not, who then keep the reference.
        for (name, type) in [("a", "Item"), ("share-b", ShareContent.recordType)] {
          let hung = try await test.modify(
            [
              RecordOperation(
                kind: .forceUpdate, recordID: RecordID(recordName: name, zoneID: zone),
                recordType: type, fields: World.hung(on: "bait"))
            ], in: alice.privateID)
          #expect(hung.map(\.summary) == ["saved"], "\(hung)")
        }
        let again = try await world.bob.modify([
          SharingUser.saving("a", below: nil, in: zone.ofAlice, World.hung(on: "bait"))
        ])
        #expect(again.map(\.summary) == ["saved"])
        // A root of the participant's own share stays, too.
        let deleted = try await world.bob.modify([SharingUser.deleting("bait", in: zone.ofAlice)])
        #expect(deleted.map(\.summary) == ["deleted"])
        #expect(try await world.names() == ["a", "b", "share-a", "share-b"])
        // The owner may end every share, and so the deletion goes on to the root and to the share.
        try await alice.save([("bait", nil)], in: zone)
        #expect(
          try await test.delete("bait", zone: zone, in: alice.privateID).summary == "deleted")
        #expect(try await world.names() == ["b"])
        #expect(try await world.bob.zones() == [])
      }
    }

    @Test(
      "in a shared zone, a reference does not end the share for a participant", arguments: engines)
    func zones(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let alice = try await SharingUser(TestStore.alice, test)
        let bob = try await SharingUser(TestStore.bob, test)
        let link = try await alice.share(
          nil, in: zone, with: [SharingUser.participant(bob.name, .readWrite, .administrator)])
        try await bob.accept(link)
        let share = RecordOperation(
          kind: .forceUpdate,
          recordID: RecordID(recordName: ShareContent.zoneShareName, zoneID: zone),
          recordType: ShareContent.recordType, fields: World.hung(on: "bait"))
        var byBob = share
        byBob.recordID.zoneID = zone.ofAlice
        #expect(try await bob.modify([byBob])[0].summary == "accessDenied")
        #expect(try await test.modify([share], in: alice.privateID)[0].summary == "saved")
        // Nothing of the zone is hidden, so a target may come later.
        let saved = try await bob.modify([
          SharingUser.saving("item", below: nil, in: zone.ofAlice, World.hung(on: "bait"))
        ])
        #expect(saved.map(\.summary) == ["saved"])
        _ = try await bob.modify([SharingUser.saving("bait", below: nil, in: zone.ofAlice)])
        let deleted = try await bob.modify([SharingUser.deleting("bait", in: zone.ofAlice)])
        #expect(deleted.map(\.summary) == ["deleted"])
        #expect(try await bob.found(in: zone.ofAlice) == [])
        #expect(try await bob.zones() == [zone.ofAlice])
      }
    }

    // MARK: Hidden records

    @Test(
      "a participant refers to a hidden record as to a missing one, and learns nothing of it",
      arguments: engines)
    func hidden(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let world = try await World(test)
        let (zone, alice) = (world.zone, world.alice)
        try await alice.save([("hidden", nil)], in: zone)
        for action in Reference.Action.allCases {
          var reasons: [String?] = []
          for target in ["hidden", "nothing"] {
            let outcome = try await world.bob.modify([
              SharingUser.saving(
                "new-\(action)", below: "a", in: zone.ofAlice,
                ["to": .reference(Reference(recordName: target, action: action))])
            ])[0]
            #expect(
              outcome.summary == (action == .none ? "saved" : "referenceMissing"),
              "\(action) \(outcome)")
            reasons.append(outcome.failure?.reason.replacing(target, with: "<target>"))
          }
          #expect(reasons[0] == reasons[1])
        }
        // Nothing of what the participant sees goes with the hidden record.
        let before = try await world.bob.found(in: zone.ofAlice)
        #expect(
          try await test.delete("hidden", zone: zone, in: alice.privateID).summary == "deleted")
        #expect(try await world.bob.found(in: zone.ofAlice) == before)
        // A target in the same request is one that the participant sees.
        let together = try await world.bob.modify([
          SharingUser.saving("new-1", below: "a", in: zone.ofAlice, World.hung(on: "new-2")),
          SharingUser.saving("new-2", below: "a", in: zone.ofAlice),
        ])
        #expect(together.map(\.summary) == ["saved", "saved"])
      }
    }

    @Test(
      "a participant neither uses up nor counts the references of hidden records",
      arguments: engines)
    func limits(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let world = try await World(test)
        let (zone, alice) = (world.zone, world.alice)
        let limit = ServiceLimits.deleteSelfReferencesPerTarget
        try await alice.save([("hidden", nil)], in: zone)
        for target in ["hidden", "bait"] {
          // `bait` has two references already.
          let count = target == "hidden" ? limit : limit - 2
          for start in stride(from: 0, to: count, by: 375) {
            let outcomes = try await test.modify(
              (start..<min(start + 375, count)).map {
                SharingUser.saving("\(target)-\($0)", below: nil, in: zone, World.hung(on: target))
              }, in: alice.privateID)
            #expect(outcomes.allSatisfy { $0.record != nil })
          }
          let beyond = try await test.modify(
            [SharingUser.saving("beyond", below: nil, in: zone, World.hung(on: target))],
            in: alice.privateID)
          #expect(beyond.map(\.summary) == ["limitExceeded"])
        }
        let refused = try await world.bob.modify([
          SharingUser.saving("mine", below: "a", in: zone.ofAlice, World.hung(on: "hidden"))
        ])
        #expect(refused.map(\.summary) == ["referenceMissing"])
        // Of the records that refer to `bait`, Bob sees two.
        let first = try await world.bob.modify([
          SharingUser.saving("mine", below: "a", in: zone.ofAlice, World.hung(on: "bait"))
        ])
        #expect(first.map(\.summary) == ["saved"])
        for start in stride(from: 3, to: limit, by: 375) {
          let outcomes = try await world.bob.modify(
            (start..<min(start + 375, limit)).map {
              SharingUser.saving("mine-\($0)", below: "b", in: zone.ofAlice, World.hung(on: "bait"))
            })
          #expect(outcomes.allSatisfy { $0.record != nil })
        }
        let last = try await world.bob.modify([
          SharingUser.saving("last", below: "a", in: zone.ofAlice, World.hung(on: "bait"))
        ])[0]
        #expect(last.failure?.limit == limit, "\(last)")
        #expect(last.failure?.reason.contains("reference \(limit + 1)") == true)
      }
    }

    @Test("a participant does not count the ancestors of a root", arguments: engines)
    func ancestors(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let world = try await World(test)
        let limit = ServiceLimits.ancestorsPerRecord
        let above: [(name: String, parent: String?)] = (0..<60).map {
          (name: "above-\($0)", parent: $0 == 0 ? nil : "above-\($0 - 1)")
        }
        try await world.alice.save(above + [(name: "a", parent: "above-59")], in: world.zone)
        let chain = (1...limit + 1).map {
          SharingUser.saving(
            "below-\($0)", below: $0 == 1 ? "a" : "below-\($0 - 1)", in: world.zone.ofAlice)
        }
        let outcomes = try await world.bob.modify(chain)
        #expect(outcomes.dropLast().allSatisfy { $0.record != nil })
        #expect(outcomes.last?.failure?.code == .limitExceeded)
        // The owner moves the root as before.
        try await world.alice.save([("a", "above-58")], in: world.zone)
        #expect(try await world.bob.record("below-\(limit)", in: world.zone.ofAlice) != nil)
      }
    }

    @Test(
      "only the share of a zone has its name, and a participant makes no share", arguments: engines)
    func names(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let world = try await World(test)
        let name = ShareContent.zoneShareName
        for (user, zone, database) in [
          (world.bob, world.zone.ofAlice, world.bob.sharedID),
          (world.alice, world.zone, world.alice.privateID),
          (world.alice, .default, test.publicID),
        ] {
          for kind in [RecordOperation.Kind.create, .forceUpdate, .forceReplace] {
            let outcome = try await test.modify(
              [
                RecordOperation(
                  kind: kind, recordID: RecordID(recordName: name, zoneID: zone),
                  recordType: "Item", parent: .some(Reference(recordName: "a")))
              ], in: database, by: user.name, isByAdministrator: false)[0]
            #expect(outcome.summary == "invalid" && outcome.failure?.field == "recordName")
          }
        }
        for name in [name, "share-mine"] {
          for kind in [RecordOperation.Kind.create, .forceUpdate] {
            let outcome = try await world.bob.modify([
              RecordOperation(
                kind: kind, recordID: RecordID(recordName: name, zoneID: world.zone.ofAlice),
                recordType: ShareContent.recordType,
                parent: .some(Reference(recordName: "a")),
                shareContent: ShareContent(root: .init(recordName: "item")))
            ])[0]
            #expect(outcome.summary == "accessDenied")
          }
        }
      }
    }

    // MARK: The public database

    @Test(
      "in the public database, a deletion goes to the records that the user's roles may delete",
      arguments: engines, Seeds.some(3))
    func grants(_ engine: StoreEngine, _ seed: Int) async throws {
      try await engine.withStore { test in
        _ = try await test.store.schemas.importSchema(
          ContainerSchema(recordTypes: [
            "Own": .init(grants: .standard),
            "Common": .init(grants: RecordGrants(["_icloud": .all, "_world": .read])),
          ]), of: TestStore.container, isDryRun: false)
        var random = SeededGenerator(seed: seed)
        let names = (0..<10).map { "r\($0)" }
        let users = ["_ann", "_ben", "_cy"]
        var model: [String: PublicItem] = [:]
        var lines: [String] = []
        for _ in 0..<150 {
          let (name, user) = (random.pick(names), random.pick(users))
          let recordID = RecordID(recordName: name)
          func mayWrite(_ item: PublicItem) -> Bool {
            item.type == "Common" || item.creator == user
          }
          if random.chance(1, in: 3) {
            lines.append("\(user) deletes \(name)")
            let outcome = try await test.modify(
              [RecordOperation(kind: .forceDelete, recordID: recordID)], by: user,
              isByAdministrator: false)[0]
            let isRefused = model[name].map { !mayWrite($0) } ?? false
            #expect(outcome.summary == (isRefused ? "accessDenied" : "deleted"))
            var pending = isRefused || model[name] == nil ? [] : [name]
            while let next = pending.popLast() {
              model[next] = nil
              pending += model.filter { $0.value.target == next && mayWrite($0.value) }.map(\.key)
            }
          } else {
            let type = model[name]?.type ?? random.pick(["Own", "Common"])
            let target = random.chance(1, in: 4) ? nil : random.pick(names)
            lines.append("\(user) saves \(type) \(name) with \(target ?? "-")")
            let outcome = try await test.modify(
              [
                RecordOperation(
                  kind: .forceReplace, recordID: recordID, recordType: type,
                  fields: target.map(World.hung) ?? [:])
              ], by: user, isByAdministrator: false)[0]
            let isRefused = model[name].map { !mayWrite($0) } ?? false
            #expect(outcome.summary == (isRefused ? "accessDenied" : "saved"))
            if !isRefused {
              let creator = model[name]?.creator ?? user
              model[name] = PublicItem(type: type, creator: creator, target: target)
            }
          }
          var found: [String: PublicItem] = [:]
          for name in names {
            guard let record = try await test.record(name) else { continue }
            found[name] = PublicItem(
              type: record.recordType, creator: record.created?.userRecordName ?? "",
              target: record.deleteSelfTargets.first)
          }
          #expect(found == model, "seed \(seed): \(lines.suffix(20))")
        }
      }
    }

    private struct PublicItem: Equatable {
      var type: String
      var creator: String
      var target: String?
    }
  }
}
