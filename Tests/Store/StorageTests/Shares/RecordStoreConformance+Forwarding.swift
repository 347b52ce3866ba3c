import CloudKitModel
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  /// The notifications of participants about changes in the owner's database.
  struct Forwarding {
    static let engines = StoreEngine.allCases

    private struct Stage {
      var alice: SharingUser
      var bob: SharingUser
      var carol: SharingUser
      var zone: ZoneID
      var link: String
      var test: TestStore
    }

    /// A hierarchy that Bob and Carol have accepted, with a record beside it. Both have subscribed
    /// to their shared databases. Nothing waits for dispatch.
    private func withStage(
      _ engine: StoreEngine, root: String? = "root", _ body: (Stage) async throws -> Void
    ) async throws {
      try await engine.withStore { test in
        let alice = try await SharingUser(TestStore.alice, test)
        let bob = try await SharingUser(TestStore.bob, test)
        let carol = try await SharingUser("_carol", test)
        let zone = try await test.makeZone("z")
        try await alice.save([("root", nil), ("child", "root"), ("beside", nil)], in: zone)
        let link = try await alice.share(
          root, in: zone,
          with: [SharingUser.participant(bob.name), SharingUser.participant(carol.name)])
        for user in [bob, carol] {
          try await user.subscribe()
          try await user.accept(link)
        }
        _ = try await test.dispatchWithForwards()
        try await body(
          Stage(alice: alice, bob: bob, carol: carol, zone: zone, link: link, test: test))
      }
    }

    @Test(
      "participants learn of a visible change once, without content, and of no other",
      arguments: engines)
    func visible(_ engine: StoreEngine) async throws {
      try await withStage(engine) { stage in
        try await stage.alice.save([("beside", nil)], in: stage.zone)
        _ = try await stage.bob.modify([
          SharingUser.changing("child", in: stage.zone.ofAlice, ["title": .string("x")])
        ])
        let entries = try await stage.test.outbox(of: stage.test.privateID)
        let logged = try await stage.test.dispatchWithForwards()
        for user in [stage.bob, stage.carol] {
          #expect(logged.lines(of: user) == ["all recordUpdated child Item"])
        }
        let notification = try #require(
          logged.first { $0.notification.subscriber == stage.carol.name }?.notification)
        #expect(notification.database == TestStore.address(.shared, owner: stage.carol.name))
        let change = notification.change
        #expect(change.zoneID == stage.zone.ofAlice && change.record?.fields.isEmpty == true)
        #expect(change.record?.created == nil && change.userRecordName == stage.bob.name)
        // Forwarding the same changes again writes nothing.
        for changes in try await stage.test.store.outbox.forwards(of: entries, after: []) {
          let again = try await stage.test.store.outbox.completeDispatch(
            of: changes, timestamp: TestStore.time(2))
          #expect(again.logged.isEmpty && again.deliveries.isEmpty)
        }
      }
    }

    @Test(
      "a change is not forwarded before an earlier one that waits, and then both are",
      arguments: engines)
    func order(_ engine: StoreEngine) async throws {
      try await withStage(engine) { stage in
        for name in ["child", "new", "child"] {
          try await stage.alice.save([(name, "root")], in: stage.zone)
        }
        let outbox = stage.test.store.outbox
        let entries = try await stage.test.outbox(of: stage.test.privateID)
        try #require(entries.count == 3)
        let (first, later) = ([entries[0]], [entries[2]])
        for earlier in [[], first, [entries[1]]] {
          let failure = await storeError {
            _ = try await outbox.forwards(of: later, after: earlier)
          }
          #expect(failure == .outOfOrder)
        }
        let forwards = try await outbox.forwards(of: later, after: Array(entries.prefix(2)))
        #expect(forwards.flatMap { $0 }.count == 2)
        #expect(
          try await stage.test.dispatchWithForwards().lines(of: stage.bob) == [
            "all recordUpdated child Item", "all recordCreated new Item",
            "all recordUpdated child Item",
          ])
        // A change that is dispatched already waits no more.
        #expect(try await outbox.forwards(of: later, after: []).flatMap { $0 }.count == 2)
      }
    }

    @Test("the device of origin gets no push, the user's other devices do", arguments: engines)
    func origin(_ engine: StoreEngine) async throws {
      try await withStage(engine) { stage in
        for device in ["phone", "pad"] {
          try await stage.test.register("bob \(device)", user: stage.bob.name, device: device)
        }
        try await stage.test.register("carol", user: stage.carol.name, device: "phone")
        _ = try await stage.test.modify(
          [SharingUser.changing("child", in: stage.zone.ofAlice)], in: stage.bob.sharedID,
          by: stage.bob.name, device: "phone", isByAdministrator: false)
        _ = try await stage.test.dispatchWithForwards()
        let due = try await stage.test.store.deliveries.dueDeliveries(
          at: TestStore.time(9), limit: 10)
        #expect(due.map(\.device.token).sorted() == ["bob pad", "carol"])
        #expect(due.allSatisfy { $0.notification.database.scope == .shared })
      }
    }

    @Test("record types are those of the changed records, or of the share", arguments: engines)
    func recordTypes(_ engine: StoreEngine) async throws {
      try await withStage(engine) { stage in
        try await stage.bob.subscribe("items", recordType: "Item")
        try await stage.bob.subscribe("shares", recordType: ShareContent.recordType)
        try await stage.bob.subscribe("others", recordType: "Other")
        try await stage.alice.save([("child", "root")], in: stage.zone)
        let left = try await stage.carol.modify([
          SharingUser.deleting("share-root", in: stage.zone.ofAlice)
        ])
        #expect(left.map(\.summary) == ["deleted"])
        let logged = try await stage.test.dispatchWithForwards()
        #expect(
          logged.lines(of: stage.bob) == [
            "all recordUpdated child Item", "items recordUpdated child Item",
            "all recordUpdated share-root cloudkit.share",
            "shares recordUpdated share-root cloudkit.share",
          ])
      }
    }

    @Test("a record that moves is a change for those of both places", arguments: engines)
    func moves(_ engine: StoreEngine) async throws {
      try await withStage(engine) { stage in
        let other = try await stage.alice.share(
          "beside", in: stage.zone, with: [SharingUser.participant("_dave")])
        let dave = try await SharingUser("_dave", stage.test)
        try await dave.subscribe()
        try await dave.accept(other)
        _ = try await stage.test.dispatchWithForwards()
        try await stage.alice.save([("child", "beside")], in: stage.zone)
        var logged = try await stage.test.dispatchWithForwards()
        for user in [stage.bob, dave] {
          #expect(logged.lines(of: user) == ["all recordUpdated child Item"])
        }
        try await stage.alice.save([("child", "beside")], in: stage.zone)
        _ = try await stage.test.delete(
          "child", zone: stage.zone, in: stage.test.privateID)
        logged = try await stage.test.dispatchWithForwards()
        #expect(logged.lines(of: stage.bob) == [])
        #expect(
          logged.lines(of: dave) == [
            "all recordUpdated child Item", "all recordDeleted child Item",
          ])
      }
    }

    @Test(
      "an acceptance is a change for the others and for the user's devices; an invitation is none",
      arguments: engines)
    func acceptance(_ engine: StoreEngine) async throws {
      try await withStage(engine) { stage in
        let dave = try await SharingUser("_dave", stage.test)
        try await dave.subscribe()
        _ = try await stage.alice.share(
          "root", in: stage.zone,
          with: [stage.bob.name, stage.carol.name, dave.name].map { SharingUser.participant($0) })
        var logged = try await stage.test.dispatchWithForwards()
        #expect(logged.lines(of: dave) == [])
        #expect(
          logged.lines(of: stage.bob) == [
            "all recordUpdated root Item", "all recordUpdated share-root cloudkit.share",
          ])
        try await dave.accept(stage.link)
        // A second acceptance changes nothing.
        try await dave.accept(stage.link)
        logged = try await stage.test.dispatchWithForwards()
        for user in [dave, stage.bob] {
          #expect(logged.lines(of: user) == ["all recordUpdated share-root cloudkit.share"])
        }
      }
    }

    @Test(
      "a removed participant learns of it once, and of nothing that was committed later",
      arguments: engines)
    func removal(_ engine: StoreEngine) async throws {
      try await withStage(engine) { stage in
        _ = try await stage.alice.share(
          "root", in: stage.zone, with: [SharingUser.participant(stage.carol.name)])
        try await stage.alice.save([("child", "root")], in: stage.zone)
        var logged = try await stage.test.dispatchWithForwards()
        #expect(
          logged.lines(of: stage.bob) == ["all recordDeleted share-root cloudkit.share"])
        #expect(logged.lines(of: stage.carol).count == 3)
        try await stage.alice.save([("child", "root")], in: stage.zone)
        logged = try await stage.test.dispatchWithForwards()
        #expect(logged.lines(of: stage.bob) == [])
        // Who is invited again learns of changes after the new acceptance.
        _ = try await stage.alice.share(
          "root", in: stage.zone,
          with: [
            SharingUser.participant(stage.bob.name), SharingUser.participant(stage.carol.name),
          ]
        )
        try await stage.alice.save([("child", "root")], in: stage.zone)
        try await stage.bob.accept(stage.link)
        try await stage.alice.save([("root", nil)], in: stage.zone)
        logged = try await stage.test.dispatchWithForwards()
        #expect(
          logged.lines(of: stage.bob) == [
            "all recordUpdated share-root cloudkit.share", "all recordUpdated root Item",
          ])
      }
    }

    @Test(
      "who loses the permission learns of it once, and sees nothing any more", arguments: engines)
    func noPermission(_ engine: StoreEngine) async throws {
      try await withStage(engine) { stage in
        func give(_ permission: SharePermission) async throws {
          _ = try await stage.alice.share(
            "root", in: stage.zone,
            with: [
              SharingUser.participant(stage.bob.name, permission),
              SharingUser.participant(stage.carol.name),
            ])
          try await stage.alice.save([("child", "root")], in: stage.zone)
        }
        try await give(.none)
        var logged = try await stage.test.dispatchWithForwards()
        #expect(logged.lines(of: stage.bob) == ["all recordDeleted share-root cloudkit.share"])
        #expect(try await stage.bob.zones() == [])
        #expect(try await stage.bob.record("child", in: stage.zone.ofAlice) == nil)
        let failure = await itemFailure { try await stage.bob.accept(stage.link) }
        #expect(failure == .accessDenied)
        try await give(.none)
        #expect(try await stage.test.dispatchWithForwards().lines(of: stage.bob) == [])
        try await give(.readOnly)
        logged = try await stage.test.dispatchWithForwards()
        #expect(
          logged.lines(of: stage.bob) == [
            "all recordUpdated root Item", "all recordUpdated share-root cloudkit.share",
            "all recordUpdated child Item",
          ])
        #expect(try await stage.bob.zones() == [stage.zone.ofAlice])
        try await give(.none)
        _ = try await stage.test.dispatchWithForwards()
        try await stage.alice.deleteZone(stage.zone)
        #expect(try await stage.test.dispatchWithForwards().lines(of: stage.bob) == [])
      }
    }

    /// The ways in which Bob's part in the share ends.
    enum Ending: CaseIterable, Sendable { case removal, leaving, share, root, zone }

    @Test(
      "pushes of a zone that wait are not sent after the user's part in it has ended",
      arguments: engines, Ending.allCases)
    func waitingPushes(_ engine: StoreEngine, _ ending: Ending) async throws {
      try await withStage(engine) { stage in
        try await stage.test.register("bob", user: stage.bob.name)
        // A zone of another owner, whose pushes stay.
        let own = try await stage.test.makeZone("other")
        try await stage.alice.save([("r", nil)], in: own)
        let link = try await stage.alice.share(
          "r", in: own, with: [SharingUser.participant(stage.bob.name)])
        try await stage.bob.accept(link)
        _ = try await stage.test.dispatchWithForwards()
        try await stage.alice.save([("child", "root")], in: stage.zone)
        _ = try await stage.test.dispatchWithForwards()
        func waiting() async throws -> [String] {
          try await stage.test.store.deliveries.dueDeliveries(at: TestStore.time(9), limit: 10)
            .map { "\($0.notification.change.zoneID.zoneName) \($0.notification.change.event)" }
            .sorted()
        }
        #expect(try await waiting() == ["other recordUpdated", "z recordUpdated"])
        switch ending {
        case .removal:
          _ = try await stage.alice.share(
            "root", in: stage.zone, with: [SharingUser.participant(stage.carol.name)])
        case .leaving:
          _ = try await stage.bob.modify([
            SharingUser.deleting("share-root", in: stage.zone.ofAlice)
          ])
        case .share:
          _ = try await stage.test.delete(
            "share-root", zone: stage.zone, in: stage.test.privateID)
        case .root:
          _ = try await stage.test.modify(
            ["child", "root"].map { SharingUser.deleting($0, in: stage.zone) },
            in: stage.test.privateID)
        case .zone: try await stage.alice.deleteZone(stage.zone)
        }
        _ = try await stage.test.dispatchWithForwards()
        let end = ending == .zone ? "z zoneDeleted" : "z recordDeleted"
        #expect(try await waiting() == ["other recordUpdated", end])
      }
    }

    @Test("who keeps another share of the zone keeps its waiting pushes", arguments: engines)
    func otherShare(_ engine: StoreEngine) async throws {
      try await withStage(engine) { stage in
        try await stage.test.register("bob", user: stage.bob.name)
        let other = try await stage.alice.share(
          "beside", in: stage.zone, with: [SharingUser.participant(stage.bob.name)])
        try await stage.bob.accept(other)
        _ = try await stage.test.delete("share-root", zone: stage.zone, in: stage.test.privateID)
        let logged = try await stage.test.dispatchWithForwards()
        #expect(
          logged.lines(of: stage.bob) == [
            "all recordUpdated share-beside cloudkit.share",
            "all recordDeleted share-root cloudkit.share",
          ])
        let due = try await stage.test.store.deliveries.dueDeliveries(
          at: TestStore.time(9), limit: 10)
        #expect(due.count == 2)
      }
    }

    @Test("every record of a shared zone is a change for its participants", arguments: engines)
    func zoneShare(_ engine: StoreEngine) async throws {
      try await withStage(engine, root: nil) { stage in
        try await stage.alice.save([("beside", nil), ("new", nil)], in: stage.zone)
        var logged = try await stage.test.dispatchWithForwards()
        #expect(
          logged.lines(of: stage.bob) == [
            "all recordUpdated beside Item", "all recordCreated new Item",
          ])
        try await stage.alice.deleteZone(stage.zone)
        logged = try await stage.test.dispatchWithForwards()
        #expect(logged.lines(of: stage.bob) == ["all zoneDeleted z"])
      }
    }

    @Test(
      "a save right after the first share and its acceptance is forwarded, in one commit or several",
      arguments: engines)
    func firstShare(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let alice = try await SharingUser(TestStore.alice, test)
        let bob = try await SharingUser(TestStore.bob, test)
        try await bob.subscribe()
        let zone = try await test.makeZone("z")
        // Without subscriptions and shares, no change is kept for the dispatcher.
        try await alice.save([("root", nil)], in: zone)
        #expect(try await test.outbox(of: test.privateID).isEmpty)
        let link = try await alice.share(
          "root", in: zone, with: [SharingUser.participant(bob.name)])
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await bob.accept(link) }
          for number in 0..<20 {
            group.addTask { try await alice.save([("r\(number)", "root")], in: zone) }
          }
          try await group.waitForAll()
        }
        try await alice.save([("last", "root")], in: zone)
        let entries = try await test.outbox(of: test.privateID)
        let accepted = try #require(
          entries.first { $0.change.userRecordName == bob.name }?.sequence)
        let heard = try await test.dispatchWithForwards().lines(of: bob)
        #expect(heard.count == entries.count { $0.sequence >= accepted })
        #expect(heard.last == "all recordCreated last Item")
      }
    }

    @Test("the deletion of an owner is learned of before the database goes", arguments: engines)
    func ownerDeletion(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let account = try await test.store.accounts.addUser(named: "dora", at: TestStore.time(0))
        let dora = try await SharingUser(account.userRecordName, test)
        let bob = try await SharingUser(TestStore.bob, test)
        try await bob.subscribe()
        let zone = ZoneID(zoneName: "z")
        _ = try await test.store.zones.modifyZones(
          [.create(zone)], in: dora.privateID, origin: ChangeOrigin(userRecordName: dora.name),
          timestamp: TestStore.time(0))
        try await dora.save([("root", nil)], in: zone)
        try await bob.accept(
          try await dora.share("root", in: zone, with: [SharingUser.participant(bob.name)]))
        try await test.dispatchAll()
        _ = try await test.store.userDeletion.beginUserDeletion(
          named: "dora", publicRecords: .keep, at: TestStore.time(1))
        #expect(try await test.continueDeletions()?.state == .finished)
        let page = try await test.store.notificationLog.notificationLog(
          of: Recipient(
            userRecordName: bob.name, container: TestStore.container, environment: .development),
          since: nil, limit: 10)
        let last = page.notifications.compactMap { notification -> LogEntry? in
          if case .unread(let entry) = notification { entry } else { nil }
        }.last
        #expect(last?.notification.change.event == .zoneDeleted)
        #expect(
          last?.notification.change.zoneID == ZoneID(zoneName: "z", ownerName: dora.name))
        #expect(try await bob.zones() == [])
      }
    }
  }
}
