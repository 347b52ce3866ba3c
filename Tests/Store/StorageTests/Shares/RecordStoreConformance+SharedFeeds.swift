import CloudKitModel
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  /// The change feeds of zones in shared databases.
  struct SharedFeeds {
    static let engines = StoreEngine.allCases

    /// A copy of a zone, as a client of one user keeps it by the change feed.
    private struct Replica {
      let user: SharingUser
      let zone: ZoneID
      var limit = 200
      var isReversed = false
      var token: String?
      /// The change tags of the records, by their names.
      var records: [String: String] = [:]
      /// The names of the records that the latest fetch reported as deleted.
      var deleted: [String] = []
      /// The names of the records that the latest fetch reported as changed.
      var changed: [String] = []
      /// The number of changes in the latest fetch.
      var changeCount = 0
      /// The number of times that a token was not accepted any more.
      var expirations = 0

      init(_ user: SharingUser, _ zone: ZoneID) {
        self.user = user
        self.zone = zone
      }

      /// Fetches one page.
      ///
      /// - Returns: whether more follow.
      mutating func fetchPage() async throws -> Bool {
        var query = RecordChangesQuery(
          zoneID: zone, token: token, limit: limit, isReversed: isReversed,
          caller: .user(userRecordName: user.name))
        query.deviceID = "device"
        do {
          let page = try await user.test.store.changeFeeds.recordChanges(
            matching: query, in: user.sharedID)
          #expect(page.changes.count <= limit)
          #expect(page.token != token)
          token = page.token
          for change in page.changes { note(change) }
          return page.hasMore
        } catch let failure as ItemFailure {
          #expect(failure.code == .zoneNotFound)
          records = [:]
          token = nil
          return false
        } catch let error as StoreError {
          #expect(error.code == .changeTokenExpired)
          expirations += 1
          records = [:]
          token = nil
          return true
        }
      }

      private mutating func note(_ change: RecordChange) {
        changeCount += 1
        switch change {
        case .saved(let record):
          #expect(record.recordID.zoneID == zone)
          records[record.recordID.recordName] = record.recordChangeTag
          changed.append(record.recordID.recordName)
        case .deleted(let recordID, _):
          #expect(recordID.zoneID == zone)
          records[recordID.recordName] = nil
          deleted.append(recordID.recordName)
        }
      }

      /// Fetches all changes.
      mutating func fetch() async throws {
        (changed, deleted) = ([], [])
        changeCount = 0
        while try await fetchPage() {}
      }
    }

    /// The records that a user sees, by lookups.
    private func seen(
      by user: SharingUser, of names: [String], in zone: ZoneID
    ) async throws -> [String: String] {
      var seen: [String: String] = [:]
      let found = try await user.test.store.records.records(
        names.map { RecordID(recordName: $0, zoneID: zone) }, in: user.sharedID)
      for record in found.compactMap(\.self) {
        seen[record.recordID.recordName] = record.recordChangeTag
      }
      return seen
    }

    private func withUsers(
      _ engine: StoreEngine,
      _ body: (_ alice: SharingUser, _ bob: SharingUser, ZoneID) async throws -> Void
    ) async throws {
      try await engine.withStore { test in
        let alice = try await SharingUser(TestStore.alice, test)
        let bob = try await SharingUser(TestStore.bob, test)
        try await body(alice, bob, try await test.makeZone("z"))
      }
    }

    @Test(
      "records that join a hierarchy are changes, and those that leave are deletions",
      arguments: engines)
    func moves(_ engine: StoreEngine) async throws {
      try await withUsers(engine) { alice, bob, zone in
        try await alice.save(
          [("root", nil), ("a", "root"), ("away", nil), ("b", "away"), ("c", "b")], in: zone)
        let link = try await alice.share(
          "root", in: zone, with: [SharingUser.participant(bob.name)])
        try await bob.accept(link)
        var replica = Replica(bob, zone.ofAlice)
        try await replica.fetch()
        #expect(Set(replica.records.keys) == ["root", "a", "share-root"])
        // The subtree joins with its old versions.
        try await alice.save([("b", "a")], in: zone)
        try await replica.fetch()
        // Its new parent has a new change tag.
        #expect(replica.changed.sorted() == ["a", "b", "c"] && replica.deleted == [])
        #expect(Set(replica.records.keys) == ["root", "a", "b", "c", "share-root"])
        // It leaves together.
        try await alice.save([("b", "away")], in: zone)
        try await replica.fetch()
        #expect(replica.changeCount == 2 && replica.deleted.sorted() == ["b", "c"])
        // What joined and left since is not in the feed, but the parent of the time is.
        try await alice.save([("b", "root")], in: zone)
        try await alice.save([("b", nil)], in: zone)
        _ = try await alice.test.modify(
          [SharingUser.saving("d", below: "root", in: zone)], in: alice.privateID)
        _ = try await alice.test.delete("d", zone: zone, in: alice.privateID)
        try await replica.fetch()
        #expect(replica.changed == ["root"] && replica.deleted == [])
        // Neither is what was never visible.
        _ = try await alice.test.delete("c", zone: zone, in: alice.privateID)
        try await alice.save([("other", nil)], in: zone)
        try await replica.fetch()
        #expect(replica.changeCount == 0)
        _ = try await alice.test.delete("a", zone: zone, in: alice.privateID)
        try await replica.fetch()
        #expect(replica.deleted == ["a"] && replica.changeCount == 1)
      }
    }

    @Test(
      "of two shares of a zone, a later one is read whole, and one that ends is deleted",
      arguments: engines)
    func severalShares(_ engine: StoreEngine) async throws {
      try await withUsers(engine) { alice, bob, zone in
        let names = (0..<5).flatMap { [("x\($0)", "x"), ("y\($0)", "y")] }
        try await alice.save([("x", nil), ("y", nil)] + names.map { ($0.0, $0.1) }, in: zone)
        let first = try await alice.share("x", in: zone, with: [SharingUser.participant(bob.name)])
        try await bob.accept(first)
        var replica = Replica(bob, zone.ofAlice)
        replica.limit = 3
        try await replica.fetch()
        #expect(replica.records.count == 7 && replica.changeCount == 7)
        let second = try await alice.share("y", in: zone, with: [SharingUser.participant(bob.name)])
        try await bob.accept(second)
        try await replica.fetch()
        #expect(replica.records.count == 14 && replica.changeCount == 7)
        for step in ["remove", "end"] {
          if step == "remove" {
            _ = try await alice.share("x", in: zone, with: [])
          } else {
            _ = try await alice.test.delete("share-x", zone: zone, in: alice.privateID)
          }
          try await replica.fetch()
          #expect(Set(replica.records.keys) == Set(["y", "share-y"] + (0..<5).map { "y\($0)" }))
          #expect(
            replica.deleted.count == 7 && replica.changeCount == 7, "\(step) \(replica.deleted)")
          let again = try await alice.share(
            "x", in: zone, with: [SharingUser.participant(bob.name)])
          try await bob.accept(again)
          try await replica.fetch()
          #expect(replica.records.count == 14 && replica.changeCount == 7, "\(step)")
        }
        #expect(replica.expirations == 0)
        // A token outlives the store's memory of departures no longer than that.
        let token = replica.token
        _ = try await alice.test.delete("x0", zone: zone, in: alice.privateID)
        _ = try await alice.test.delete("y0", zone: zone, in: alice.privateID)
        _ = try await alice.test.store.maintenance.trim(at: .init(milliseconds: .max / 4))
        try await replica.fetch()
        #expect(replica.expirations == 1 && replica.records.count == 12)
        _ = token
      }
    }

    @Test(
      "the feed of a shared database has the zones in which something visible changed",
      arguments: engines)
    func databases(_ engine: StoreEngine) async throws {
      try await withUsers(engine) { alice, bob, zone in
        let other = try await alice.test.makeZone("other")
        try await alice.save([("root", nil), ("a", "root"), ("b", nil)], in: zone)
        var token: String?
        func changes() async throws -> [ZoneChange] {
          let page = try await bob.test.zoneChanges(since: token, in: bob.sharedID)
          token = page.token
          return page.changes
        }
        let changed = ZoneChange.changed(zone.ofAlice)
        #expect(try await changes() == [])
        let link = try await alice.share(
          "root", in: zone, with: [SharingUser.participant(bob.name)])
        #expect(try await changes() == [])
        try await bob.accept(link)
        #expect(try await changes() == [changed])
        #expect(try await changes() == [])
        try await alice.save([("b", nil), ("c", "b")], in: zone)
        try await alice.save([("x", nil)], in: other)
        #expect(try await changes() == [], "what the user does not see is no change")
        try await alice.save([("b", "a")], in: zone)
        #expect(try await changes() == [changed])
        _ = try await alice.test.delete("c", zone: zone, in: alice.privateID)
        #expect(try await changes() == [changed])
        // Another share of the zone, and the whole other zone.
        try await alice.save([("second", nil)], in: zone)
        let second = try await alice.share(
          "second", in: zone, with: [SharingUser.participant(bob.name)])
        let whole = try await alice.share(nil, in: other, with: [SharingUser.participant(bob.name)])
        try await bob.accept(second)
        try await bob.accept(whole)
        #expect(try await changes() == [.changed(other.ofAlice), changed])
        _ = try await alice.share("root", in: zone, with: [])
        #expect(try await changes() == [changed], "one of two shares has ended")
        _ = try await bob.modify([SharingUser.deleting("share-second", in: zone.ofAlice)])
        #expect(try await changes() == [.deleted(zone.ofAlice)])
        #expect(try await changes() == [])
        let again = try await alice.share(
          "root", in: zone, with: [SharingUser.participant(bob.name)])
        try await bob.accept(again)
        #expect(try await changes() == [changed])
        // The zone is deleted and made again between two fetches.
        for isShared in [true, false] {
          _ = try await alice.test.store.zones.modifyZones(
            [.delete(other), .create(other)], in: alice.privateID,
            origin: ChangeOrigin(userRecordName: alice.name), timestamp: TestStore.time(0))
          if isShared {
            try await bob.accept(
              try await alice.share(nil, in: other, with: [SharingUser.participant(bob.name)]))
          }
          #expect(
            try await changes()
              == [isShared ? .changed(other.ofAlice) : .deleted(other.ofAlice)])
        }
        token = nil
        #expect(try await changes() == [changed])
      }
    }

    @Test("a token is that of one user, one zone and one way of sharing", arguments: engines)
    func tokens(_ engine: StoreEngine) async throws {
      try await withUsers(engine) { alice, bob, zone in
        let carol = try await SharingUser("_carol", alice.test)
        try await alice.save([("root", nil), ("a", "root")], in: zone)
        let link = try await alice.share("root", in: zone, publicPermission: .readOnly)
        try await bob.accept(link)
        try await carol.accept(link)
        var bobs = Replica(bob, zone.ofAlice)
        try await bobs.fetch()
        let own = try await alice.test.store.changeFeeds.recordChanges(
          matching: RecordChangesQuery(zoneID: zone), in: alice.privateID)
        let listed = try #require(
          try await bob.test.store.zones.zones(in: bob.sharedID).first?.changeToken)
        for (token, user, isAccepted) in [
          (bobs.token, bob, true), (bobs.token, carol, false), (own.token, bob, false),
          (listed, bob, true), (listed, carol, false),
        ] {
          var replica = Replica(user, zone.ofAlice)
          replica.token = token
          try await replica.fetch()
          #expect((replica.expirations == 0) == isAccepted)
        }
        let expired = await storeError {
          _ = try await alice.test.store.changeFeeds.recordChanges(
            matching: RecordChangesQuery(zoneID: zone, token: bobs.token), in: alice.privateID)
        }
        #expect(expired == .changeTokenExpired)
        // The zone is shared as a whole instead.
        _ = try await alice.test.delete("share-root", zone: zone, in: alice.privateID)
        let whole = try await alice.share(nil, in: zone, publicPermission: .readOnly)
        try await bob.accept(whole)
        try await bobs.fetch()
        #expect(bobs.expirations == 1)
        #expect(Set(bobs.records.keys) == ["root", "a", ShareContent.zoneShareName])
        _ = try await alice.test.delete("a", zone: zone, in: alice.privateID)
        try await bobs.fetch()
        #expect(bobs.deleted == ["a"] && bobs.changeCount == 1)
      }
    }

    @Test(
      "replicas by random feeds are what lookups see, and learn no name that was never visible",
      arguments: engines, Seeds.some(4))
    func random(_ engine: StoreEngine, _ seed: Int) async throws {
      try await withUsers(engine) { alice, bob, zone in
        var random = SeededGenerator(seed: seed)
        let names = (0..<8).map { "r\($0)" }
        let all = names + names.map { "share-\($0)" }
        var replicas = [1, 2, 3, 200].map { limit in
          var replica = Replica(bob, zone.ofAlice)
          replica.limit = limit
          replica.isReversed = limit == 3
          return replica
        }
        var everSeen: Set<String> = []
        var history: [String] = []
        for round in 0..<120 {
          let name = random.pick(names)
          let step = Int.random(in: 0..<12, using: &random)
          switch step {
          case 0...4:
            let parent = random.chance(1, in: 4) ? nil : random.pick(names)
            _ = try await alice.test.modify(
              [SharingUser.saving(name, below: parent, in: zone)], in: alice.privateID)
            history.append("\(round): save \(name) below \(parent ?? "-")")
          case 5:
            history.append("\(round): delete \(name)")
            _ = try await alice.test.delete(name, zone: zone, in: alice.privateID)
          case 6, 7, 8:
            // Shares a hierarchy, if nothing is in the way, and lets the user accept.
            let link = try await alice.linkOfShare(
              name, in: zone, with: [SharingUser.participant(bob.name)])
            if let link { try? await bob.accept(link) }
            history.append("\(round): share \(name) \(link == nil ? "refused" : "")")
          case 9:
            history.append("\(round): remove from \(name)")
            _ = try await alice.linkOfShare(name, in: zone, with: [])
          case 10:
            history.append("\(round): end \(name)")
            _ = try await alice.test.delete("share-\(name)", zone: zone, in: alice.privateID)
          default:
            history.append("\(round): leave \(name)")
            _ = try await bob.modify([SharingUser.deleting("share-\(name)", in: zone.ofAlice)])
          }
          let seen = try await seen(by: bob, of: all, in: zone.ofAlice)
          everSeen.formUnion(seen.keys)
          for index in replicas.indices where random.chance(1, in: 1 + index * 2) {
            // Sometimes a client stops in the middle, and goes on later.
            if random.chance(1, in: 3) {
              _ = try await replicas[index].fetchPage()
              if index == 1 { history.append("page \(replicas[index].records.keys.sorted())") }
              continue
            }
            try await replicas[index].fetch()
            if index == 1 { history.append("fetch") }
            let comment: Comment =
              "seed \(seed), limit \(replicas[index].limit): \(history.suffix(60))"
            #expect(replicas[index].records == seen, comment)
            #expect(everSeen.isSuperset(of: replicas[index].deleted), comment)
          }
        }
        #expect(!everSeen.isEmpty)
      }
    }
  }
}
