import CloudKitModel
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  /// Users who accept shares, and join public ones.
  struct Acceptance {
    static let engines = StoreEngine.allCases

    /// Saves the share of a zone in the private database of its owner, and returns its content.
    private func save(
      in zone: ZoneID, _ test: TestStore, _ change: (inout ShareContent) -> Void
    ) async throws -> ShareContent {
      var content = ShareContent()
      change(&content)
      let outcomes = try await test.modify(
        [
          RecordOperation(
            kind: .forceUpdate,
            recordID: RecordID(recordName: ShareContent.zoneShareName, zoneID: zone),
            recordType: ShareContent.recordType, shareContent: content)
        ], in: test.privateID)
      return try #require(outcomes[0].record?.shareContent, "\(outcomes)")
    }

    private func invited(_ identity: UserIdentity) -> ShareParticipant {
      ShareParticipant(
        role: .privateUser, permission: .readWrite, acceptance: .pending, identity: identity)
    }

    /// Accepts a share, and returns the user as a participant.
    private func accept(
      _ link: String?, as user: String, _ test: TestStore
    ) async throws -> ShareParticipant {
      try await test.store.shares.accept(
        ShareRequest(shortGUID: link ?? ""), by: ChangeOrigin(userRecordName: user),
        of: TestStore.container, in: .development, timestamp: TestStore.time(1)
      ).participant
    }

    /// Accepts a share, and returns `accepted`, or the code of the failure.
    private func outcome(
      _ link: String?, as user: String, _ test: TestStore
    ) async throws -> String {
      do {
        _ = try await accept(link, as: user, test)
        return "accepted"
      } catch let failure as ItemFailure {
        return "\(failure.code)"
      }
    }

    @Test("a user accepts the invitation of an address, and no other user can", arguments: engines)
    func addresses(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let email = UserLookup(emailAddress: "zoe@example.com")
        let content = try await save(in: zone, test) {
          $0.participants = [invited(UserIdentity(lookup: email))]
        }
        let link = content.shortGUID
        #expect(try await outcome(link, as: "_other", test) == "mayNeedVerification")
        let profile = try UserProfile(
          emailAddress: "Zoe@example.com", phoneNumber: nil, nameComponents: nil)
        let zoe = try await test.store.accounts.addUser(named: "zoe", profile: profile, at: .now)
        #expect(try await outcome(link, as: "_other", test) == "accessDenied")
        let joined = try await accept(link, as: zoe.userRecordName, test)
        #expect(joined.acceptance == .accepted && joined.permission == .readWrite)
        #expect(joined.identity.userRecordName == zoe.userRecordName)
        // The owner's list has the user in the place of the invitation.
        let present = try await save(in: zone, test) { _ in }
        #expect(present.participants?.count == 2)
        #expect(present.participants?.last?.identity.userRecordName == zoe.userRecordName)
        #expect(try await outcome(link, as: "_other", test) == "accessDenied")
      }
    }

    @Test("of two users with a link for a single use, one joins", arguments: engines)
    func singleUse(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let content = try await save(in: zone, test) {
          $0.participants = [invited(UserIdentity())]
        }
        let link = try #require(content.oneTimeLinks?.first?.url)
        async let first = outcome(link, as: "_first", test)
        async let second = outcome(link, as: "_second", test)
        let outcomes = try await [first, second]
        #expect(outcomes.sorted() == ["accepted", "notFound"])
        let winner = outcomes[0] == "accepted" ? "_first" : "_second"
        #expect(try await outcome(link, as: winner, test) == "accepted")
        #expect(try await outcome(link, as: "_third", test) == "notFound")
        let present = try await save(in: zone, test) { _ in }
        #expect(present.participants?.last?.identity.userRecordName == winner)
        #expect(present.oneTimeLinks == nil)
        // The owner can change the participant, who needs no new link.
        let changed = try await save(in: zone, test) {
          $0.participants = present.participants?.map {
            var participant = $0
            if participant.role == .privateUser { participant.permission = .readOnly }
            return participant
          }
        }
        #expect(changed.participants?.last?.permission == .readOnly)
        #expect(changed.participants?.last?.acceptance == .accepted && changed.oneTimeLinks == nil)
        _ = try await save(in: zone, test) { $0.participants = [] }
        #expect(try await outcome(link, as: winner, test) == "notFound")
      }
    }

    @Test(
      "an acceptance and the removal of the participant have the outcome of one of the two orders",
      arguments: engines)
    func removal(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        for _ in 1...10 {
          let content = try await save(in: zone, test) {
            $0.participants = [invited(UserIdentity(userRecordName: TestStore.bob))]
          }
          async let accepting = outcome(content.shortGUID, as: TestStore.bob, test)
          async let removing = save(in: zone, test) { $0.participants = [] }
          let (accepted, removed) = try await (accepting, removing)
          #expect(["accepted", "accessDenied"].contains(accepted))
          #expect(removed.participants?.map(\.role) == [.owner])
          #expect(
            try await outcome(content.shortGUID, as: TestStore.bob, test) == "accessDenied")
        }
      }
    }

    @Test(
      "a public share takes 100 participants with its owner, and nobody who is blocked",
      arguments: engines)
    func limit(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let content = try await save(in: zone, test) { $0.publicPermission = .readOnly }
        let link = content.shortGUID
        for number in 1..<ServiceLimits.participantsPerShare {
          #expect(try await outcome(link, as: "_u\(number)", test) == "accepted")
        }
        #expect(try await outcome(link, as: "_late", test) == "tooManyParticipants")
        #expect(try await outcome(link, as: "_u1", test) == "accepted")
        let blocked = try await save(in: zone, test) {
          $0.blocked = [UserIdentity(userRecordName: "_u1")]
        }
        #expect(blocked.participants?.count == ServiceLimits.participantsPerShare - 1)
        #expect(try await outcome(link, as: "_u1", test) == "accessDenied")
        #expect(try await outcome(link, as: "_late", test) == "accepted")
      }
    }

    @Test(
      "a user who joins a public share and leaves it again and again leaves few rows",
      arguments: engines)
    func again(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let bob = try await SharingUser(TestStore.bob, test)
        let carol = try await SharingUser("_carol", test)
        let link = try await save(in: zone, test) { $0.publicPermission = .readOnly }.shortGUID
        for user in [carol, bob] { _ = try await accept(link, as: user.name, test) }
        let share = RecordOperation(
          kind: .forceDelete,
          recordID: RecordID(recordName: ShareContent.zoneShareName, zoneID: zone.ofAlice))
        for _ in 0..<25 {
          #expect(try await bob.modify([share])[0].summary == "deleted")
          #expect(try await bob.zones() == [])
          _ = try await accept(link, as: bob.name, test)
          #expect(try await bob.zones() == [zone.ofAlice])
        }
        let store = test.store
        let rows = try await store.transactions.read { transaction in
          try transaction.connection.rows(
            "SELECT user_record_name FROM participants WHERE database_id = $1",
            [.integer(test.privateID.rawValue)]
          ) { $0.text(0) }
        }
        #expect(
          rows.count { $0 == bob.name } == Int(ParticipantTable.endedPartsPerUser) + 1)
        #expect(rows.count { $0 == carol.name } == 1)
        #expect(try await carol.zones() == [zone.ofAlice])
      }
    }
  }
}
