import CloudKitModel
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  /// The changes of participants that each role may make, and users who are blocked.
  struct ShareRoles {
    static let engines = StoreEngine.allCases

    // MARK: Administrators

    /// The participant whom a save concerns.
    enum Target: String, CaseIterable {
      case administrator, invitedAdministrator, writer, invitedReader

      var role: ShareRole {
        switch self {
        case .administrator, .invitedAdministrator: .administrator
        case .writer, .invitedReader: .privateUser
        }
      }

      var permission: SharePermission { self == .invitedReader ? .readOnly : .readWrite }

      var hasAccepted: Bool { self == .administrator || self == .writer }
    }

    /// The effect of a save on the target.
    enum Change: String, CaseIterable {
      case removal, otherRole, otherPermission, block, publicPermission, otherInvitation
    }

    /// How a save names the target.
    enum Naming: String, CaseIterable {
      case identifier, user, address
    }

    private static let address = UserLookup(emailAddress: "tina@example.com")

    private static func share(
      in zone: ZoneID, _ content: ShareContent
    ) -> RecordOperation {
      RecordOperation(
        kind: .forceUpdate,
        recordID: RecordID(recordName: ShareContent.zoneShareName, zoneID: zone),
        recordType: ShareContent.recordType, shareContent: content)
    }

    /// The share of a zone, as its owner sees it.
    private static func share(in zone: ZoneID, of owner: SharingUser) async throws -> ShareContent {
      let record = try await owner.test.record(
        ShareContent.zoneShareName, zone: zone, in: owner.privateID)
      return try #require(record?.shareContent)
    }

    /// The content of a save that changes the target; nil where the change has no such naming.
    private static func content(
      _ change: Change, _ target: ShareParticipant, among present: [ShareParticipant],
      by naming: Naming
    ) -> ShareContent? {
      var entry = target
      switch naming {
      case .identifier: entry.identity = UserIdentity()
      case .user:
        guard entry.identity.userRecordName != nil else { return nil }
        entry.participantID = nil
        entry.identity.lookup = nil
      case .address:
        entry.participantID = nil
        entry.identity.userRecordName = nil
      }
      let others = present.filter { $0.participantID != target.participantID }
      switch change {
      case .removal:
        return naming == .identifier ? ShareContent(participants: others) : nil
      case .otherRole:
        entry.role = target.role == .administrator ? .privateUser : .administrator
        return ShareContent(participants: others + [entry])
      case .otherPermission:
        entry.permission = .none
        return ShareContent(participants: others + [entry])
      case .block:
        guard naming == .user else { return nil }
        return ShareContent(blocked: [UserIdentity(userRecordName: entry.identity.userRecordName)])
      case .publicPermission:
        return naming == .identifier && target.acceptance == .pending
          ? ShareContent(publicPermission: .readOnly) : nil
      case .otherInvitation:
        // The entry names nobody who is known, and so it stands for somebody else.
        guard naming == .identifier else { return nil }
        entry.participantID = "other"
        return ShareContent(participants: others + [entry])
      }
    }

    @Test(
      "an administrator changes the parts of others, and of no administrator",
      arguments: engines, Target.allCases)
    func administrators(_ engine: StoreEngine, _ target: Target) async throws {
      try await engine.withStore { test in
        let alice = try await SharingUser(TestStore.alice, test)
        let boss = try await SharingUser("_boss", test)
        let account = try await test.store.accounts.addUser(
          named: "tina",
          profile: UserProfile(
            emailAddress: Self.address.emailAddress, phoneNumber: nil, nameComponents: nil),
          at: TestStore.time(0))
        let tina = try await SharingUser(account.userRecordName, test)
        var cells = 0
        for actor in [ShareRole.owner, .administrator] {
          for change in Change.allCases {
            for naming in Naming.allCases {
              let zone = try await test.makeZone("z\(cells)-\(actor)-\(change)-\(naming)")
              let link = try await alice.share(
                nil, in: zone,
                with: [
                  SharingUser.participant(boss.name, .readWrite, .administrator),
                  ShareParticipant(
                    role: target.role, permission: target.permission, acceptance: .pending,
                    identity: UserIdentity(lookup: Self.address)),
                ])
              try await boss.accept(link)
              if target.hasAccepted { try await tina.accept(link) }
              let before = try await Self.share(in: zone, of: alice)
              let present = before.participants ?? []
              let entry = try #require(
                present.first { $0.identity.lookup?.emailAddress == Self.address.emailAddress })
              guard let save = Self.content(change, entry, among: present, by: naming) else {
                continue
              }
              cells += 1
              let outcome =
                actor == .owner
                ? try await test.modify(
                  [Self.share(in: zone, save)], in: alice.privateID, isByAdministrator: false)[0]
                : try await boss.modify([Self.share(in: zone.ofAlice, save)])[0]
              let after = try await Self.share(in: zone, of: alice)
              let mayChange =
                actor == .owner || (target.role != .administrator && change != .otherRole)
              let comment: Comment = "\(actor) \(change) \(naming): \(outcome)"
              #expect(outcome.summary == (mayChange ? "saved" : "accessDenied"), comment)
              #expect((after.participants == present) == !mayChange, comment)
              #expect(mayChange || after == before, comment)
              let isTaking = try await tina.zones().contains(zone.ofAlice)
              if !mayChange { #expect(isTaking == target.hasAccepted, comment) }
            }
          }
        }
        #expect(cells >= 14)
      }
    }

    @Test(
      "a second invitation takes nothing from that of an administrator", arguments: engines)
    func twice(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let alice = try await SharingUser(TestStore.alice, test)
        let boss = try await SharingUser("_boss", test)
        let account = try await test.store.accounts.addUser(
          named: "tina",
          profile: UserProfile(
            emailAddress: Self.address.emailAddress, phoneNumber: nil, nameComponents: nil),
          at: TestStore.time(0))
        let tina = try await SharingUser(account.userRecordName, test)
        let link = try await alice.share(
          nil, in: zone,
          with: [
            SharingUser.participant(boss.name, .readWrite, .administrator),
            ShareParticipant(
              role: .administrator, permission: .readWrite, acceptance: .pending,
              identity: UserIdentity(lookup: Self.address)),
          ])
        try await boss.accept(link)
        let present = try #require(
          try await boss.record(ShareContent.zoneShareName, in: zone.ofAlice)?.shareContent?
            .participants)
        let again = try await boss.modify([
          Self.share(
            in: zone.ofAlice,
            ShareContent(
              participants: present + [SharingUser.participant(tina.name, .readOnly)]))
        ])
        #expect(again.map(\.summary) == ["saved"])
        try await tina.accept(link)
        let share = try #require(
          try await tina.record(ShareContent.zoneShareName, in: zone.ofAlice)?.shareContent)
        #expect(share.currentParticipant?.role == .administrator)
      }
    }

    // MARK: Blocked users

    /// The part of a user whom the owner blocks.
    enum Blocked: String, CaseIterable {
      case requester, participant, invited
    }

    /// A way into a share.
    enum Way: String, CaseIterable {
      case publicPermission, singleUse, emailAddress, phoneNumber, userRecordName
    }

    @Test(
      "a blocked user comes in on no way, until the block ends", arguments: engines,
      Blocked.allCases)
    func blocked(_ engine: StoreEngine, _ kind: Blocked) async throws {
      try await engine.withStore { test in
        let alice = try await SharingUser(TestStore.alice, test)
        let profile = try UserProfile(
          emailAddress: "mia@example.com", phoneNumber: "+4915112345678", nameComponents: nil)
        let account = try await test.store.accounts.addUser(
          named: "mia", profile: profile, at: TestStore.time(0))
        let mia = try await SharingUser(account.userRecordName, test)
        let identity = UserIdentity(userRecordName: mia.name)
        for way in Way.allCases {
          let zone = try await test.makeZone("z-\(way)")
          func save(_ content: ShareContent) async throws -> RecordOutcome {
            try await test.modify([Self.share(in: zone, content)], in: alice.privateID)[0]
          }
          func outcome(_ body: () async throws -> Void) async throws -> String {
            do {
              try await body()
              return "ok"
            } catch let failure as ItemFailure {
              return "\(failure.code)"
            }
          }
          func ask(_ link: String) async throws {
            try await test.store.shares.requestAccess(
              to: link, for: mia.name, of: TestStore.container, in: .development,
              timestamp: TestStore.time(1))
          }
          let isInvited = kind != .requester
          var link = try await alice.share(
            nil, in: zone, with: isInvited ? [SharingUser.participant(mia.name)] : [])
          _ = try await save(ShareContent(deniesAccessRequests: false))
          switch kind {
          case .requester: try await ask(link)
          case .participant: try await mia.accept(link)
          case .invited: break
          }
          let blocked = try await save(ShareContent(blocked: [identity]))
          #expect(blocked.record?.shareContent?.blocked == [identity])
          #expect(blocked.record?.shareContent?.participants?.count == 1)

          var opening = ShareContent()
          switch way {
          case .publicPermission: opening.publicPermission = .readWrite
          case .singleUse:
            opening.participants = [
              ShareParticipant(
                role: .privateUser, permission: .readWrite, acceptance: .pending,
                identity: UserIdentity())
            ]
          case .emailAddress, .phoneNumber:
            let lookup =
              way == .emailAddress
              ? UserLookup(emailAddress: profile.emailAddress)
              : UserLookup(phoneNumber: profile.phoneNumber)
            opening.participants = [
              ShareParticipant(
                role: .administrator, permission: .readWrite, acceptance: .pending,
                identity: UserIdentity(lookup: lookup))
            ]
          case .userRecordName:
            opening.participants = [SharingUser.participant(mia.name)]
            // Who adds a user by name has to end the block.
            let refused = try await save(opening)
            #expect(refused.summary == "invalid" && refused.failure?.field == "participants")
            opening = ShareContent()
          }
          let opened = try #require(try await save(opening).record?.shareContent)
          if let single = opened.oneTimeLinks?.first?.url { link = single }
          let request = ShareRequest(shortGUID: link, fetchesRootRecord: true)
          func look() async throws {
            _ = try await test.store.shares.shares(
              [request], for: mia.name, of: TestStore.container, in: .development)[0].get()
          }
          #expect(try await outcome(look) == "notFound", "\(way)")
          #expect(try await outcome { try await mia.accept(link) } == "accessDenied", "\(way)")
          #expect(try await outcome { try await ask(link) } == "ok", "\(way)")
          #expect(try await mia.zones() == [], "\(way)")
          let after = try #require(try await save(ShareContent()).record?.shareContent)
          #expect(after.requesters == [] && after.participants == opened.participants, "\(way)")

          // The same way leads in when the block ends.
          var unblocking = ShareContent(blocked: [])
          if way == .userRecordName {
            unblocking.participants = [SharingUser.participant(mia.name)]
          }
          #expect(try await save(unblocking).summary == "saved")
          #expect(try await outcome(look) == "ok", "\(way)")
          #expect(try await outcome { try await mia.accept(link) } == "ok", "\(way)")
          #expect(try await mia.zones() == [zone.ofAlice], "\(way)")
          _ = try await save(ShareContent(blocked: [identity]))
          #expect(try await mia.zones() == [], "\(way)")
        }
      }
    }

    @Test("a share blocks users, and says so for an address", arguments: engines)
    func addresses(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let alice = try await SharingUser(TestStore.alice, test)
        _ = try await alice.share(nil, in: zone)
        let outcome = try await test.modify(
          [Self.share(in: zone, ShareContent(blocked: [UserIdentity(lookup: Self.address)]))],
          in: alice.privateID)[0]
        #expect(outcome.summary == "invalid" && outcome.failure?.field == "blocked")
      }
    }
  }
}
