import CloudKitModel
import Testing
import WebServices

@testable import CloudKit

/// The requests for access to a share, and what its owner does with them.
struct ShareAccessTests {
  private static let zoneID = ZoneID(zoneName: "Notes")

  private static func user(_ name: String) -> UserIdentity {
    UserIdentity(
      userRecordName: "_\(name)", lookup: UserLookup(emailAddress: "\(name)@example.com"))
  }

  private static func participant(_ name: String, _ role: ShareRole) -> ShareParticipant {
    ShareParticipant(
      participantID: name, role: role, permission: .readWrite, acceptance: .accepted,
      identity: user(name))
  }

  /// A share as the server returns it to the participant `current`.
  private static func share(current: ShareRole = .owner) throws -> CKShare {
    let anna = participant("anna", .owner)
    let ben = participant("ben", current == .owner ? .privateUser : current)
    let model = Record(
      recordID: RecordID(recordName: "s", zoneID: zoneID), recordType: "cloudkit.share",
      recordChangeTag: "1",
      shareContent: ShareContent(
        participants: [anna, ben], owner: anna, currentParticipant: current == .owner ? anna : ben,
        deniesAccessRequests: false, requesters: [user("eva"), user("kim")],
        blocked: [user("max")]))
    return try #require(CKRecord(model) as? CKShare)
  }

  private func names(_ share: CKShare) -> [[String?]] {
    [
      share.requesters.map(\.userIdentity.userRecordID?.recordName),
      share.blockedIdentities.map(\.userIdentity.userRecordID?.recordName),
      share.participants.map(\.userIdentity.userRecordID?.recordName),
    ]
  }

  private func model(_ share: CKShare) -> ShareContent { share.sharing.withLock { $0.model } }

  @Test("A new share allows no requests and has none")
  func newShare() {
    let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Notes"))
    #expect(!share.allowsAccessRequests)
    #expect(share.requesters.isEmpty)
    #expect(share.blockedIdentities.isEmpty)
    #expect(model(share).deniesAccessRequests == true)
    share.allowsAccessRequests = true
    #expect(share.allowsAccessRequests)
    #expect(model(share).deniesAccessRequests == false)
  }

  @Test("A share from the server has its requesters, who can be looked up as participants")
  func fromServer() throws {
    let share = try Self.share()
    #expect(share.allowsAccessRequests)
    #expect(names(share) == [["_eva", "_kim"], ["_max"], ["_anna", "_ben"]])
    #expect(share.requesters[0].participantLookupInfo.emailAddress == "eva@example.com")
    let nameless = try #require(
      CKShareAccessRequester(CKUserIdentity(UserIdentity(userRecordName: "_eva"))))
    #expect(nameless.participantLookupInfo.userRecordID?.recordName == "_eva")
    #expect(CKShareAccessRequester(CKUserIdentity(UserIdentity())) == nil)
  }

  @Test("A save sends the lists only if the program changed them")
  func unchanged() throws {
    let share = try Self.share()
    #expect(model(share).requesters == nil)
    #expect(model(share).blocked == nil)
    share.publicPermission = .readOnly
    #expect(model(share).requesters == nil)
    share.denyRequesters([])
    #expect(model(share).requesters?.count == 2)
    #expect(model(share).blocked == nil)
  }

  @Test("Denying takes a user from the requesters, and ignores one who is not there")
  func denying() throws {
    let share = try Self.share()
    let unknown = try #require(CKShareAccessRequester(CKUserIdentity(Self.user("max"))))
    share.denyRequesters([share.requesters[0], unknown])
    #expect(names(share) == [["_kim"], ["_max"], ["_anna", "_ben"]])
    #expect(model(share).requesters == [Self.user("kim")])
    #expect(model(share).blocked == nil)
  }

  @Test("Blocking takes a user from requesters and participants, once, and spares the owner")
  func blocking() throws {
    let share = try Self.share(current: .administrator)
    let others = try ["ben", "anna", "max"].map {
      try #require(CKShareAccessRequester(CKUserIdentity(Self.user($0))))
    }
    share.blockRequesters([share.requesters[0]] + others)
    #expect(names(share) == [["_kim"], ["_max", "_eva", "_ben", "_anna"], ["_anna"]])
    #expect(model(share).requesters == [Self.user("kim")])
    #expect(model(share).blocked == ["max", "eva", "ben", "anna"].map { Self.user($0) })
  }

  @Test("Unblocking takes a user from the blocked ones")
  func unblocking() throws {
    let share = try Self.share()
    share.unblockIdentities(share.blockedIdentities)
    #expect(names(share) == [["_eva", "_kim"], [], ["_anna", "_ben"]])
    #expect(model(share).requesters == nil)
    #expect(model(share).blocked == [])
  }

  @Test("Approving is adding a participant; the save leaves the list of requesters to the server")
  func approving() throws {
    let share = try Self.share()
    share.addParticipant(CKShareParticipant(userIdentity: share.requesters[0].userIdentity))
    #expect(model(share).participants?.map(\.identity.userRecordName) == ["_anna", "_ben", "_eva"])
    #expect(model(share).requesters == nil)
  }

  @Test("Whoever is neither owner nor administrator stops the program")
  func preconditions() async throws {
    await #expect(processExitsWith: .failure) {
      try ShareAccessTests.share(current: .privateUser).allowsAccessRequests = false
    }
    await #expect(processExitsWith: .failure) {
      let share = try ShareAccessTests.share(current: .privateUser)
      share.denyRequesters(share.requesters)
    }
    await #expect(processExitsWith: .failure) {
      let share = try ShareAccessTests.share(current: .privateUser)
      share.blockRequesters(share.requesters)
    }
    await #expect(processExitsWith: .failure) {
      let share = try ShareAccessTests.share(current: .publicUser)
      share.unblockIdentities(share.blockedIdentities)
    }
    await #expect(processExitsWith: .success) {
      for role in [ShareRole.owner, .administrator] {
        let share = try ShareAccessTests.share(current: role)
        share.allowsAccessRequests = false
        share.denyRequesters(share.requesters)
        share.blockRequesters(share.requesters)
        share.unblockIdentities(share.blockedIdentities)
      }
    }
  }

  @Test("Requests survive an archive and a copy of their share, with what was changed")
  func archived() throws {
    let share = try Self.share()
    share.blockRequesters([share.requesters[0]])
    let copy = try #require((share as CKRecord).copy() as? CKShare)
    for other in [try archivedAndBack(share), copy] {
      #expect(other.allowsAccessRequests)
      #expect(other.requesters == share.requesters)
      #expect(other.blockedIdentities == share.blockedIdentities)
      #expect(model(other) == model(share))
    }
    copy.denyRequesters(copy.requesters)
    #expect(share.requesters.count == 1)
    let untouched = try archivedAndBack(try Self.share())
    #expect(untouched.requesters.count == 2)
    #expect(model(untouched).requesters == nil)
  }

  @Test("An archive from before requests for access still loads")
  func formerArchive() throws {
    let share = try Self.share()
    share.addParticipant(.oneTimeURLParticipant())
    let data = try NSKeyedArchiver.archivedData(withRootObject: share, requiringSecureCoding: true)
    var list = try #require(
      PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    let objects = try #require(list["$objects"] as? [Any])
    let added: Set = [
      "allowsAccessRequests", "requesters", "hasChangedRequesters", "blockedIdentities",
      "hasChangedBlockedIdentities", "isApprovedRequester", "dateAddedToShare",
      "joinsByOneTimeURL",
    ]
    list["$objects"] = objects.map { object in
      (object as? [String: Any])?.filter { !added.contains($0.key) } ?? object
    }
    let former = try PropertyListSerialization.data(
      fromPropertyList: list, format: .binary, options: 0)
    let back = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.self, from: former))
    #expect(back.participants == share.participants)
    #expect(!back.allowsAccessRequests)
    #expect(back.requesters.isEmpty && back.blockedIdentities.isEmpty)
    #expect(back.participants.allSatisfy { !$0.isApprovedRequester && $0.dateAddedToShare == nil })
  }

  @Test("Requesters and blocked identities are values that survive an archive")
  func values() throws {
    let share = try Self.share()
    let requester = share.requesters[0]
    let back = try archivedAndBack(requester)
    #expect(back == requester && back.hash == requester.hash)
    #expect(back.participantLookupInfo == requester.participantLookupInfo)
    #expect(requester.copy() as? CKShare.AccessRequester === requester)
    #expect(requester != share.requesters[1])
    let blocked = share.blockedIdentities[0]
    let backBlocked = try archivedAndBack(blocked)
    #expect(backBlocked == blocked && backBlocked.hash == blocked.hash)
    #expect(blocked.copy() as? CKShare.BlockedIdentity === blocked)
    #expect(!blocked.isEqual(requester) && !requester.isEqual(blocked))
  }

  // MARK: One-time URLs

  @Test("A save asks for the link of a one-time participant, and the answer has it")
  func oneTimeLinks() throws {
    let share = try Self.share()
    #expect(model(share).oneTimeLinks == nil)
    let participant = CKShare.Participant.oneTimeURLParticipant()
    share.addParticipant(participant)
    #expect(
      model(share).oneTimeLinks == [
        ShareContent.OneTimeLink(participantIDs: [participant.participantID])
      ])
    var content = model(share)
    content.oneTimeLinks?[0].url = "https://x.test/share/once"
    let saved = try #require(
      CKRecord(
        Record(
          recordID: RecordID(recordName: "s", zoneID: Self.zoneID), recordType: "cloudkit.share",
          shareContent: content)) as? CKShare)
    #expect(
      saved.oneTimeURL(for: participant.participantID) == URL(string: "https://x.test/share/once"))
    #expect(saved.oneTimeURL(for: "anna") == nil)
    #expect(model(saved).oneTimeLinks == content.oneTimeLinks)
  }

  // MARK: The operation

  /// Answers for each share; one named `invited` has the asking user as a participant.
  private static let script: ScriptedTransport.Script = { request, _ in
    guard let body = request.body, let asked = try? RequestAccessRequest(parsing: body) else {
      return .error(ServiceError(.badRequest, "no body"))
    }
    return .ok(
      RequestAccessResponse(
        results: asked.shortGUIDs.map { shortGUID in
          shortGUID == "invited"
            ? .failure(
              FailedItem(
                .share(shortGUID: shortGUID),
                ServiceError(.participantAlreadyInvited, "already invited")))
            : .success(.init(shortGUID: shortGUID))
        }
      ).body)
  }

  private let url = URL(string: "https://x.test/share/0abc#Plans")!
  private let invited = URL(string: "https://x.test/share/invited")!
  private let none = URL(string: "https://x.test/")!

  @Test("Access is requested by the last part of the URL's path, each URL with its own result")
  func requesting() async throws {
    let transport = ScriptedTransport(Self.script)
    let container = CKContainer.scripted(transport)
    let results = try await container.requestShareAccess(for: [url, invited, none])
    #expect(transport.requests.map(\.operation) == ["records/requestAccess"])
    #expect(transport.requests.first?.scope == .public)
    let body = try #require(transport.requests.first?.body)
    #expect(try RequestAccessRequest(parsing: body).shortGUIDs == ["0abc", "invited"])
    #expect(results.count == 3)
    #expect(throws: Never.self) { try results[url]?.get() }
    #expect((results[invited]?.error as? CKError)?.code == .participantAlreadyInvited)
    #expect((results[none]?.error as? CKError)?.code == .invalidArguments)
    #expect(try await container.requestShareAccess(for: []).isEmpty)
    #expect(transport.requests.count == 1)
  }

  @Test("The operation succeeds though URLs failed, and fails with the whole request")
  func operation() throws {
    let events = Guarded<[String]>([])
    func run(_ container: CKContainer, _ urls: [URL]?) {
      let operation = CKShareRequestAccessOperation()
      #expect(operation.shareURLs == nil)
      operation.shareURLs = urls
      operation.configuration.container = container
      operation.perShareAccessRequestResultBlock = { url, result in
        events.append("\(url.lastPathComponent) \(result.error == nil)")
      }
      operation.shareAccessRequestResultBlock = { result in
        events.append("\((result.error as? CKError)?.code.rawValue ?? 0)")
      }
      operation.runToEnd()
    }
    let container = CKContainer.scripted(ScriptedTransport(Self.script))
    run(container, [url, none, invited])
    #expect(events.current == ["/ false", "0abc true", "invited false", "0"])
    events.withLock { $0 = [] }
    run(container, nil)
    #expect(events.current == ["0"])
    events.withLock { $0 = [] }
    let offline = CKContainer.scripted { _, _ in .failure(TransportFailure(.offline, "none")) }
    run(offline, [url])
    #expect(events.current == ["\(CKError.Code.networkUnavailable.rawValue)"])
  }
}
