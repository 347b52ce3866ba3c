import CloudKitModel
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  /// Shares in the private database of their owner.
  struct Shares {
    static let engines = StoreEngine.allCases

    private func item(
      _ name: String, below parent: String? = nil, in zone: ZoneID, _ title: String = ""
    ) -> RecordOperation {
      RecordOperation(
        kind: .forceUpdate, recordID: RecordID(recordName: name, zoneID: zone),
        recordType: "Item", fields: ["title": .string(title)],
        parent: parent.map { .some(Reference(recordName: $0)) })
    }

    private func share(
      _ name: String, of root: String? = nil, in zone: ZoneID,
      _ kind: RecordOperation.Kind = .create, tag: String? = nil,
      _ change: (inout ShareContent) -> Void = { _ in }
    ) -> RecordOperation {
      var content = ShareContent(root: root.map { .init(recordName: $0) })
      change(&content)
      return RecordOperation(
        kind: kind, recordID: RecordID(recordName: name, zoneID: zone),
        recordType: ShareContent.recordType, recordChangeTag: tag, shareContent: content)
    }

    private func delete(_ name: String, in zone: ZoneID) -> RecordOperation {
      RecordOperation(kind: .forceDelete, recordID: RecordID(recordName: name, zoneID: zone))
    }

    private func user(_ name: String) -> ShareParticipant {
      ShareParticipant(
        role: .privateUser, permission: .readOnly, acceptance: .pending,
        identity: UserIdentity(userRecordName: name))
    }

    private func address(_ email: String, _ role: ShareRole = .privateUser) -> ShareParticipant {
      ShareParticipant(
        role: role, permission: .readWrite, acceptance: .unknown,
        identity: UserIdentity(lookup: UserLookup(emailAddress: email)))
    }

    @Test("a share and its root are saved together, or neither is", arguments: engines)
    func together(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        for isAtomic in [true, false] {
          let name = "root-\(isAtomic)"
          let alone = try await test.modify(
            [item("other", in: zone), share("s", of: "other", in: zone)], in: test.privateID,
            atomic: isAtomic)
          #expect(alone.map(\.summary) == ["saved", "saved"])
          _ = try await test.modify([delete("s", in: zone)], in: test.privateID)
          let without = try await test.modify(
            [share("s", of: "other", in: zone)], in: test.privateID, atomic: isAtomic)
          #expect(without.map(\.summary) == ["invalid"])
          #expect(without[0].failure?.field == "forRecord")
          let missing = try await test.modify(
            [share("s", of: "missing", in: zone)], in: test.privateID, atomic: isAtomic)
          #expect(missing.map(\.summary) == ["invalid"])
          // The root fails.
          let badRoot = item(name, below: "missing", in: zone)
          let rootFails = try await test.modify(
            [share("s", of: name, in: zone), badRoot], in: test.privateID, atomic: isAtomic)
          #expect(rootFails.map(\.summary) == ["atomic", "referenceMissing"])
          // The share fails.
          let badShare = share("s", of: name, in: zone) { $0.publicPermission = .unknown }
          let shareFails = try await test.modify(
            [item(name, in: zone), badShare], in: test.privateID, atomic: isAtomic)
          #expect(shareFails.map(\.summary) == ["atomic", "invalid"])
          #expect(try await test.record(name, zone: zone, in: test.privateID) == nil)
          // In any order, with a parent that comes last.
          let saved = try await test.modify(
            [
              share("s-\(isAtomic)", of: name, in: zone), item(name, below: "p", in: zone),
              item("p", in: zone),
            ], in: test.privateID, atomic: isAtomic)
          #expect(saved.map(\.summary) == ["saved", "saved", "saved"])
          #expect(saved[1].record?.share == Reference(recordName: "s-\(isAtomic)"))
          _ = try await test.modify([delete("s-\(isAtomic)", in: zone)], in: test.privateID)
        }
      }
    }

    @Test("a record that is saved already is shared by its change tag", arguments: engines)
    func savedRoot(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let made = try await test.modify(
          [item("p", in: zone), item("a", below: "p", in: zone), item("b", below: "a", in: zone)],
          in: test.privateID)
        let first = try #require(made[1].record?.recordChangeTag)
        _ = try await test.modify([item("a", below: "p", in: zone)], in: test.privateID)
        let root = try #require(try await test.record("a", zone: zone, in: test.privateID))
        func share(_ tag: String?) async throws -> RecordOutcome {
          var operation = self.share("s", of: "a", in: zone)
          operation.shareContent?.root?.recordChangeTag = tag
          return try await test.modify([operation], in: test.privateID)[0]
        }
        #expect(try await share(nil).summary == "invalid")
        let stale = try await share(first)
        #expect(stale.failure?.code == .conflict && stale.failure?.field == "forRecord")
        #expect(stale.failure?.serverRecord?.recordChangeTag == root.recordChangeTag)
        let token = try await test.changes(in: zone).token
        let shared = try await share(root.recordChangeTag)
        #expect(shared.record?.share == Reference(recordName: "s"))
        // The root names its share, and has a new change tag.
        let after = try #require(try await test.record("a", zone: zone, in: test.privateID))
        #expect(after.share == Reference(recordName: "s") && after.parent == root.parent)
        #expect(after.recordChangeTag != root.recordChangeTag && after.modified == root.modified)
        let changes = try await test.changes(in: zone, since: token)
        #expect(changes.names.sorted() == ["a", "s"])
        #expect(try await share(after.recordChangeTag).failure?.code == .exists)
        // The end of the share leaves the root as it was.
        _ = try await test.modify([delete("s", in: zone)], in: test.privateID)
        let ended = try await test.record("a", zone: zone, in: test.privateID)
        #expect(ended?.share == nil && ended?.parent == root.parent)
      }
    }

    @Test("a share comes back with its owner, its link and its participants", arguments: engines)
    func content(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let saved = try await test.modify(
          [
            item("a", in: zone),
            share("s", of: "a", in: zone) {
              $0.participants = [
                ShareParticipant(
                  participantID: "me", role: .owner, permission: .readWrite,
                  acceptance: .accepted, identity: UserIdentity()),
                address(" Bob@Example.com"), user("_carol"),
                ShareParticipant(
                  role: .privateUser, permission: .readOnly, acceptance: .unknown,
                  identity: UserIdentity()),
              ]
            },
          ], in: test.privateID, at: 7)
        let record = try #require(saved[1].record)
        #expect(record.share == Reference(recordName: "s"))
        let content = try #require(record.shareContent)
        #expect(content.owner?.participantID == "me")
        #expect(content.owner?.identity.userRecordName == TestStore.alice)
        #expect(content.publicPermission == SharePermission.none)
        #expect(content.shortGUID?.isEmpty == false)
        let participants = try #require(content.participants)
        #expect(participants.count == 4)
        let bob = try #require(
          participants.first { $0.identity.lookup?.emailAddress == "bob@example.com" })
        #expect(bob.permission == .readWrite && bob.acceptance == .pending)
        #expect(bob.added == TestStore.time(7))
        let oneTime = try #require(
          participants.first { $0.role == .privateUser && $0.identity == UserIdentity() })
        #expect(content.oneTimeLinks?.map(\.participantIDs) == [[oneTime.participantID ?? ""]])
        #expect(content.oneTimeLinks?.first?.url != content.shortGUID)
        #expect(try await test.record("s", zone: zone, in: test.privateID) == record)
        let changes = try await test.store.changeFeeds.recordChanges(
          matching: RecordChangesQuery(
            zoneID: zone, token: nil, limit: 10, caller: .user(userRecordName: TestStore.alice)),
          in: test.privateID)
        #expect(changes.changes.contains(.saved(record)))
      }
    }

    @Test(
      "a hierarchy has one share at most, and a zone either one of its own or those of hierarchies",
      arguments: engines)
    func configurations(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        for first in ["a", "b", "c", nil] as [String?] {
          for second in ["a", "b", "c", "x", nil] as [String?] {
            let zone = try await test.makeZone("z-\(first ?? "zone")-\(second ?? "zone")")
            // a is the parent of b, b that of c; x is a child of a beside b.
            _ = try await test.modify(
              [
                item("a", in: zone), item("b", below: "a", in: zone),
                item("c", below: "b", in: zone), item("x", below: "a", in: zone),
              ], in: test.privateID)
            func save(_ root: String?, as name: String) async throws -> [String] {
              let zoneShare = share(ShareContent.zoneShareName, in: zone)
              let operations = root.map {
                [item($0, in: zone), share(name, of: $0, in: zone)]
              }
              return try await test.modify(operations ?? [zoneShare], in: test.privateID).map(
                \.summary)
            }
            #expect(try await Set(save(first, as: "s1")) == ["saved"])
            let outcome = try await save(second, as: "s2")
            let areApart = [first, second] == ["b", "x"] || [first, second] == ["c", "x"]
            let comment: Comment = "\(first ?? "zone"), then \(second ?? "zone")"
            if areApart {
              #expect(outcome == ["saved", "saved"], comment)
            } else if first == nil, second == nil {
              // The second save is on the same record.
              #expect(outcome == ["exists"], comment)
            } else {
              #expect(outcome.last == "alreadyShared", comment)
            }
          }
        }
      }
    }

    @Test("a shared record cannot move into the hierarchy of another share", arguments: engines)
    func moves(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let saved = try await test.modify(
          [
            item("a", in: zone), share("sa", of: "a", in: zone), item("b", in: zone),
            item("c", below: "b", in: zone), share("sc", of: "c", in: zone),
          ], in: test.privateID)
        #expect(saved.allSatisfy { $0.record != nil }, "\(saved)")
        let outcomes = try await test.modify(
          [item("b", below: "a", in: zone), item("c", below: "a", in: zone)], in: test.privateID)
        #expect(outcomes.map(\.summary) == ["alreadyShared", "alreadyShared"])
        let apart = try await test.modify(
          [delete("sc", in: zone), item("b", below: "a", in: zone)], in: test.privateID)
        #expect(apart.map(\.summary) == ["deleted", "saved"])
      }
    }

    @Test(
      "a share ends with its record, its root or its zone, and its link stays", arguments: engines)
    func ends(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        func begin() async throws -> (root: Record, share: Record) {
          let saved = try await test.modify(
            [item("a", in: zone, "new"), share("s", of: "a", in: zone)], in: test.privateID)
          return (try #require(saved[0].record), try #require(saved[1].record))
        }
        let first = try await begin()
        let end = try await test.modify(
          [item("a", in: zone, "last"), delete("s", in: zone)], in: test.privateID)
        #expect(end.map(\.summary) == ["saved", "deleted"])
        let root = try #require(try await test.record("a", zone: zone, in: test.privateID))
        #expect(root.share == nil && root.fields["title"] == .string("last"))
        #expect(end[0].record == root)
        #expect(root.recordChangeTag != first.root.recordChangeTag)
        let second = try await begin()
        #expect(second.share.shareContent?.shortGUID == first.share.shareContent?.shortGUID)
        let deletion = try await test.modify([delete("a", in: zone)], in: test.privateID)
        #expect(deletion.map(\.summary) == ["deleted"])
        #expect(try await test.record("s", zone: zone, in: test.privateID) == nil)
        _ = try await begin()
        let gone = try await test.store.zones.modifyZones(
          [.delete(zone)], in: test.privateID,
          origin: ChangeOrigin(userRecordName: TestStore.alice),
          timestamp: TestStore.time(1))
        #expect(gone == [.deleted(zone)])
        _ = try await test.makeZone("z")
        // Another root has another link.
        #expect(
          try await begin().share.shareContent?.shortGUID != first.share.shareContent?.shortGUID)
      }
    }

    @Test(
      "a record that asks for its short GUID gets the one of its later share", arguments: engines)
    func shortGUIDs(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        func named(_ name: String, in zone: ZoneID, _ kind: RecordOperation.Kind) -> RecordOperation
        {
          var operation = item(name, in: zone)
          operation.kind = kind
          operation.createsShortGUID = true
          return operation
        }
        func shortGUID(
          _ operation: RecordOperation, in database: DatabaseID, requestID: String? = nil
        ) async throws -> String? {
          let saved = try await test.modify([operation], in: database, requestID: requestID)
          return try #require(saved[0].record).shortGUID
        }
        // The record type is known now, so a later creation could be prepared.
        let plain = try await test.modify([item("b", in: zone)], in: test.privateID)
        #expect(plain[0].record?.shortGUID == nil)
        let first = try await shortGUID(named("a", in: zone, .create), in: test.privateID)
        #expect(first?.isEmpty == false)
        #expect(
          try await shortGUID(named("a", in: zone, .forceUpdate), in: test.privateID) == first)
        let other = try await shortGUID(
          named("c", in: zone, .create), in: test.privateID, requestID: "r")
        #expect(other != first)
        #expect(
          try await shortGUID(named("c", in: zone, .create), in: test.privateID, requestID: "r")
            == other)

        // It leads nowhere before the share.
        func address() async throws -> DatabaseAddress? {
          try await test.store.shares.address(ofShare: first ?? "")
        }
        #expect(try await address() == nil)
        let shared = try await test.modify(
          [named("a", in: zone, .forceUpdate), share("s", of: "a", in: zone)], in: test.privateID)
        #expect(shared[0].record?.shortGUID == first)
        #expect(shared[1].record?.shareContent?.shortGUID == first)
        #expect(try await address()?.owner == TestStore.alice)
        #expect(try await test.record("a", zone: zone, in: test.privateID)?.shortGUID == nil)
        _ = try await test.modify([delete("s", in: zone)], in: test.privateID)
        #expect(try await address() == nil)

        // What cannot be shared has none.
        for database in [test.privateID, test.publicID] {
          #expect(try await shortGUID(named("d", in: .default, .create), in: database) == nil)
        }
      }
    }

    @Test("participants are added, changed and removed by the list of a save", arguments: engines)
    func participants(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let first = try await test.modify(
          [
            item("a", in: zone),
            share("s", of: "a", in: zone) { $0.participants = [user("_bob"), user("_carol")] },
          ], in: test.privateID)
        let tag = first[1].record?.recordChangeTag
        // Absent means unchanged, and a stale tag changes nothing.
        let same = try await test.modify(
          [share("s", in: zone, .update, tag: tag) { _ in }], in: test.privateID)
        #expect(same[0].record?.shareContent?.participants?.count == 3)
        let stale = try await test.modify(
          [share("s", in: zone, .update, tag: tag) { $0.participants = [] }], in: test.privateID)
        #expect(stale[0].summary == "conflict")
        #expect(stale[0].failure?.serverRecord?.shareContent?.participants?.count == 3)
        var bob = user("_bob")
        bob.permission = .readWrite
        let changed = try await test.modify(
          [
            share("s", in: zone, .forceUpdate) {
              $0.participants = [bob, address("dora@example.com", .administrator)]
            }
          ], in: test.privateID)
        let list = try #require(changed[0].record?.shareContent?.participants)
        #expect(Set(list.compactMap(\.identity.userRecordName)) == [TestStore.alice, "_bob"])
        #expect(list.first { $0.identity.userRecordName == "_bob" }?.permission == .readWrite)
        #expect(list.contains { $0.role == .administrator && $0.permission == .readWrite })
        // A public share has nobody who is only invited.
        let opened = try await test.modify(
          [share("s", in: zone, .forceUpdate) { $0.publicPermission = .readOnly }],
          in: test.privateID)
        #expect(opened[0].record?.shareContent?.participants?.map(\.role) == [.owner])
        let mixed = try await test.modify(
          [share("s", in: zone, .forceUpdate) { $0.participants = [user("_bob")] }],
          in: test.privateID)
        #expect(mixed[0].summary == "invalid" && mixed[0].failure?.field == "participants")
        let full = try await test.modify(
          [
            share("s", in: zone, .forceUpdate) {
              $0.publicPermission = SharePermission.none
              $0.participants = (1...99).map { user("_u\($0)") }
            }
          ], in: test.privateID)
        #expect(full[0].summary == "invalid")
        for (count, summary) in [(99, "saved"), (100, "tooManyParticipants")] {
          _ = try await test.modify(
            [share("s", in: zone, .forceUpdate) { $0.publicPermission = SharePermission.none }],
            in: test.privateID)
          let outcome = try await test.modify(
            [
              share("s", in: zone, .forceUpdate) {
                $0.participants = (1...count).map { user("_u\($0)") }
              }
            ], in: test.privateID)
          #expect(outcome[0].summary == summary)
        }
      }
    }

    @Test("shares are in custom zones of private databases only", arguments: engines)
    func places(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let outcomes = try await test.modify(
          [item("a", in: .default), share("s", of: "a", in: .default)], in: test.privateID)
        #expect(outcomes.map(\.summary) == ["atomic", "invalid"])
        let inPublic = try await test.modify(
          [item("a", in: .default), share("s", of: "a", in: .default)])
        #expect(inPublic.map(\.summary) == ["atomic", "badDatabase"])
        let zone = try await test.makeZone("z")
        let nameless = try await test.modify([share("s", in: zone)], in: test.privateID)
        #expect(nameless[0].summary == "invalid" && nameless[0].failure?.field == "forRecord")
      }
    }
  }
}
