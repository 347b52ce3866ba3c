import CloudKitModel
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  /// The lists and changes of shares for administrators.
  struct Administration {
    static let engines = StoreEngine.allCases

    private static let place = ContainerPlace(
      container: TestStore.container, environment: .development)

    /// Alice with a shared hierarchy of a root, a child and a leaf beside other records, and Bob, who
    /// is invited.
    private func withHierarchy(
      _ engine: StoreEngine,
      _ body: (SharingUser, SharingUser, ZoneID, _ link: String) async throws -> Void
    ) async throws {
      try await engine.withStore { test in
        let alice = try await SharingUser(TestStore.alice, test)
        let bob = try await SharingUser(TestStore.bob, test)
        let zone = try await test.makeZone("z")
        try await alice.save(
          [("root", nil), ("child", "root"), ("leaf", "child"), ("beside", nil)], in: zone)
        let link = try await alice.share(
          "root", in: zone, with: [SharingUser.participant(bob.name)])
        try await body(alice, bob, zone, link)
      }
    }

    private static func share(_ root: String?, in zone: ZoneID) -> RecordID {
      RecordID(recordName: SharingUser.shareName(of: root), zoneID: zone)
    }

    private static func shown(
      _ root: String?, in zone: ZoneID, of user: SharingUser
    ) async throws -> AdministeredShare {
      try #require(
        try await user.test.store.shareAdministration.share(
          share(root, in: zone), in: user.privateID))
    }

    /// The identifier of a user in a share.
    private static func participantID(
      _ user: String, in share: AdministeredShare
    ) throws -> String {
      let participant = share.record.shareContent?.participants?.first {
        $0.identity.userRecordName == user
      }
      return try #require(participant?.participantID)
    }

    @Test(
      "shares are listed page by page, and by owner, participant and container", arguments: engines)
    func lists(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let alice = try await SharingUser(TestStore.alice, test)
        let bob = try await SharingUser(TestStore.bob, test)
        let zone = try await test.makeZone("z")
        try await alice.save([("a", nil), ("b", nil), ("c", nil)], in: zone)
        let invitation = [SharingUser.participant(bob.name)]
        _ = try await alice.share("a", in: zone, publicPermission: .readOnly)
        let link = try await alice.share("b", in: zone, with: invitation)
        let other = ZoneID(zoneName: "y")
        _ = try await test.store.zones.modifyZones(
          [.create(other)], in: bob.privateID, origin: ChangeOrigin(userRecordName: bob.name),
          timestamp: TestStore.time(0))
        _ = try await bob.share(nil, in: other, with: [SharingUser.participant("_eve")])
        try await bob.accept(link)

        func listed(_ filter: ShareFilter, limit: Int = 10) async throws -> [ShareSummary] {
          var found: [ShareSummary] = []
          var last: ShareSummary.Place?
          repeat {
            let page = try await test.store.shareAdministration.shares(
              filter, after: last, limit: limit)
            #expect(page.found.count <= limit)
            found += page.found
            last = page.next
          } while last != nil
          return found
        }
        let all = try await listed(ShareFilter(place: Self.place))
        #expect(Set(all.map(\.shareID.recordName)) == ["share-a", "share-b", "cloudkit.zoneshare"])
        #expect(try await listed(ShareFilter(place: Self.place), limit: 1) == all)
        let alices = try await listed(ShareFilter(place: Self.place, database: alice.privateID))
        #expect(alices.map(\.rootRecordName) == ["a", "b"])
        #expect(alices.map(\.publicPermission) == [.readOnly, .none])
        #expect(alices.map(\.owner) == [alice.name, alice.name])
        #expect(alices.map(\.accepted) == [0, 1] && alices.map(\.invited) == [0, 0])
        let bobs = try #require(all.first { $0.owner == bob.name })
        #expect(bobs.shareID.zoneID == other && bobs.rootRecordName == nil && bobs.invited == 1)
        #expect(
          try await listed(ShareFilter(place: Self.place, participant: bob.name)) == [alices[1]])
        #expect(try await listed(ShareFilter(place: Self.place, participant: "_eve")) == [bobs])
        var both = ShareFilter(
          place: Self.place, database: alice.privateID, participant: bob.name)
        #expect(try await listed(both) == [alices[1]])
        both.participant = "_eve"
        #expect(try await listed(both) == [])
        let production = ContainerPlace(container: TestStore.container, environment: .production)
        #expect(try await listed(ShareFilter(place: production)) == [])
      }
    }

    @Test("shares and their present participants are counted", arguments: engines)
    func counts(_ engine: StoreEngine) async throws {
      try await withHierarchy(engine) { alice, bob, zone, link in
        let administration = alice.test.store.shareAdministration
        #expect(
          try await administration.counts() == ShareCounts(shares: 1, invited: 1, accepted: 0))
        try await bob.accept(link)
        let other = try await alice.test.makeZone("other")
        _ = try await alice.share(nil, in: other, with: [SharingUser.participant("_eve")])
        #expect(
          try await administration.counts() == ShareCounts(shares: 2, invited: 1, accepted: 1))
        try await administration.endShare(
          Self.share("root", in: zone), in: alice.privateID, timestamp: TestStore.time(1))
        #expect(
          try await administration.counts() == ShareCounts(shares: 1, invited: 1, accepted: 0))
      }
    }

    @Test(
      "a share is shown with its participants and the number of its records", arguments: engines)
    func shown(_ engine: StoreEngine) async throws {
      try await withHierarchy(engine) { alice, bob, zone, link in
        try await bob.accept(link)
        let share = try await Self.shown("root", in: zone, of: alice)
        #expect(share.summary.shareID == Self.share("root", in: zone))
        #expect(share.summary.rootRecordName == "root" && share.summary.owner == alice.name)
        #expect(share.coveredRecords == 3 && !share.coversMore)
        let content = try #require(share.record.shareContent)
        #expect(content.shortGUID == link)
        #expect(content.participants?.map(\.role) == [.owner, .privateUser])
        #expect(content.participants?.last?.acceptance == .accepted)
        let other = try await alice.test.makeZone("other")
        try await alice.save([("one", nil), ("two", nil)], in: other)
        _ = try await alice.share(nil, in: other)
        #expect(try await Self.shown(nil, in: other, of: alice).coveredRecords == 2)

        // Records that are no shares, and those of other zones and databases, are not there.
        let administration = alice.test.store.shareAdministration
        for shareID in [
          RecordID(recordName: "root", zoneID: zone),
          RecordID(recordName: "share-root", zoneID: other),
          RecordID(recordName: "share-root", zoneID: ZoneID(zoneName: "none")),
        ] {
          #expect(try await administration.share(shareID, in: alice.privateID) == nil)
        }
        #expect(
          try await administration.share(Self.share("root", in: zone), in: bob.privateID) == nil)
        #expect(
          try await administration.share(Self.share("root", in: zone), in: alice.sharedID) == nil)
      }
    }

    @Test(
      "a removed participant has lost the zone, and all others find the change of the share",
      arguments: engines)
    func removal(_ engine: StoreEngine) async throws {
      try await withHierarchy(engine) { alice, bob, zone, link in
        try await bob.accept(link)
        let administration = alice.test.store.shareAdministration
        let before = try await Self.shown("root", in: zone, of: alice)
        let shareID = before.summary.shareID
        let token = try await alice.test.zoneChanges(in: alice.privateID).token
        try await administration.removeParticipant(
          try Self.participantID(bob.name, in: before), from: shareID, in: alice.privateID,
          timestamp: TestStore.time(5))
        #expect(try await bob.zones() == [])
        #expect(try await bob.record("child", in: zone.ofAlice) == nil)
        let after = try await Self.shown("root", in: zone, of: alice)
        #expect(after.record.shareContent?.participants?.map(\.role) == [.owner])
        #expect(after.record.recordChangeTag != before.record.recordChangeTag)
        #expect(after.record.modified?.userRecordName == alice.name)
        #expect(after.record.modified?.timestamp == TestStore.time(5))
        #expect(after.record.shareContent?.shortGUID == link)
        #expect(try await alice.test.changes(in: zone).names.last == "share-root")
        #expect(
          try await alice.test.zoneChanges(since: token, in: alice.privateID).changes.count == 1)
        // With the link, the user is a stranger again.
        let refused = await itemFailure { try await bob.accept(link) }
        #expect(refused == .accessDenied)
      }
    }

    @Test("an invitation is withdrawn with its link for a single use", arguments: engines)
    func invitation(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let alice = try await SharingUser(TestStore.alice, test)
        let bob = try await SharingUser(TestStore.bob, test)
        let zone = try await test.makeZone("z")
        var anyone = SharingUser.participant("")
        anyone.identity = UserIdentity()
        _ = try await alice.share(nil, in: zone, with: [anyone])
        let share = try await Self.shown(nil, in: zone, of: alice)
        #expect(share.summary.invited == 1)
        let link = try #require(share.record.shareContent?.oneTimeLinks?.first)
        try await test.store.shareAdministration.removeParticipant(
          try #require(link.participantIDs.first), from: share.summary.shareID,
          in: alice.privateID, timestamp: TestStore.time(1))
        let refused = await itemFailure { try await bob.accept(try #require(link.url)) }
        #expect(refused == .notFound)
      }
    }

    @Test("owners, strangers and shares that are not there cannot be removed", arguments: engines)
    func refusals(_ engine: StoreEngine) async throws {
      try await withHierarchy(engine) { alice, bob, zone, _ in
        let administration = alice.test.store.shareAdministration
        let share = try await Self.shown("root", in: zone, of: alice)
        let owner = try Self.participantID(alice.name, in: share)
        let guest = try Self.participantID(bob.name, in: share)
        let missing = RecordID(recordName: "root", zoneID: zone)
        let now = TestStore.time(1)
        for (participant, shareID, code) in [
          (owner, share.summary.shareID, ItemFailure.Code.invalid),
          ("nobody", share.summary.shareID, .notFound), (guest, missing, .notFound),
        ] {
          let refused = await itemFailure {
            try await administration.removeParticipant(
              participant, from: shareID, in: alice.privateID, timestamp: now)
          }
          #expect(refused == code)
        }
        let ended = await itemFailure {
          try await administration.endShare(missing, in: alice.privateID, timestamp: now)
        }
        let renewed = await itemFailure {
          try await administration.renewLink(of: missing, in: alice.privateID, timestamp: now)
        }
        #expect(ended == .notFound && renewed == .notFound)
        #expect(try await Self.shown("root", in: zone, of: alice) == share)
      }
    }

    @Test("an ended share is gone for participants, and its records stay", arguments: engines)
    func end(_ engine: StoreEngine) async throws {
      try await withHierarchy(engine) { alice, bob, zone, link in
        try await bob.accept(link)
        let administration = alice.test.store.shareAdministration
        let shareID = Self.share("root", in: zone)
        let database = alice.privateID
        try await administration.endShare(shareID, in: database, timestamp: TestStore.time(5))
        #expect(try await bob.zones() == [])
        #expect(try await administration.share(shareID, in: database) == nil)
        let root = try #require(try await alice.test.record("root", zone: zone, in: database))
        #expect(root.share == nil)
        #expect(try await alice.test.record("leaf", zone: zone, in: database) != nil)
        // The link belongs to the root record.
        #expect(try await alice.share("root", in: zone) == link)
      }
    }

    @Test(
      "a new link replaces the old one, stays with the root record, and keeps participants",
      arguments: engines)
    func newLink(_ engine: StoreEngine) async throws {
      try await withHierarchy(engine) { alice, bob, zone, link in
        try await bob.accept(link)
        let administration = alice.test.store.shareAdministration
        let before = try await Self.shown("root", in: zone, of: alice)
        try await administration.renewLink(
          of: before.summary.shareID, in: alice.privateID, timestamp: TestStore.time(5))
        let after = try await Self.shown("root", in: zone, of: alice)
        let new = try #require(after.record.shareContent?.shortGUID)
        #expect(new != link)
        #expect(after.record.recordChangeTag != before.record.recordChangeTag)
        #expect(
          after.record.shareContent?.participants == before.record.shareContent?.participants)
        #expect(try await bob.zones() == [zone.ofAlice])
        let old = await itemFailure { try await bob.accept(link) }
        #expect(old == .notFound)
        try await bob.accept(new)
        #expect(try await alice.test.changes(in: zone).names.last == "share-root")
        try await administration.endShare(
          before.summary.shareID, in: alice.privateID, timestamp: TestStore.time(6))
        #expect(try await alice.share("root", in: zone) == new)
      }
    }

    @Test("the readers of a record are its owner, and who accepted its share", arguments: engines)
    func readers(_ engine: StoreEngine) async throws {
      try await withHierarchy(engine) { alice, bob, zone, link in
        func readers(_ name: String, in zone: ZoneID = zone) async throws -> RecordReaders? {
          try await alice.test.store.shareAdministration.readers(
            of: RecordID(recordName: name, zoneID: zone), in: alice.privateID)
        }
        let alone = try #require(try await readers("leaf"))
        #expect(alone.share?.shareID == Self.share("root", in: zone))
        #expect(alone.owner == alice.name && alone.participants == [])
        try await bob.accept(link)
        for name in ["root", "child", "leaf", "share-root"] {
          let found = try #require(try await readers(name))
          #expect(found.participants.map(\.identity.userRecordName) == [bob.name], "\(name)")
          #expect(found.share?.rootRecordName == "root")
        }
        let beside = try #require(try await readers("beside"))
        #expect(beside.share == nil && beside.participants == [])
        #expect(try await readers("none") == nil)
        let other = try await alice.test.makeZone("other")
        try await alice.save([("one", nil)], in: other)
        _ = try await alice.share(nil, in: other, publicPermission: .readOnly)
        #expect(try await readers("one", in: other)?.share?.shareID == Self.share(nil, in: other))
      }
    }
  }
}
