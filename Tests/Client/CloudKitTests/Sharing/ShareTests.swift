import CloudKitModel
import Testing
import WebServices

@testable import CloudKit

struct ShareTests {
  private static let zoneID = CKRecordZone.ID(zoneName: "Notes")
  private let root = CKRecord(
    recordType: "Note", recordID: CKRecord.ID(recordName: "root", zoneID: zoneID))

  private func participant(_ email: String) -> CKShare.Participant {
    CKShareParticipant(
      userIdentity: CKUserIdentity(UserIdentity(lookup: UserLookup(emailAddress: email))))
  }

  @Test("Raw values are Apple's")
  func rawValues() {
    #expect(CKShare.ParticipantAcceptanceStatus.unknown.rawValue == 0)
    #expect(CKShare.ParticipantAcceptanceStatus.pending.rawValue == 1)
    #expect(CKShare.ParticipantAcceptanceStatus.accepted.rawValue == 2)
    #expect(CKShare.ParticipantAcceptanceStatus.removed.rawValue == 3)
    #expect(CKShare.ParticipantPermission.unknown.rawValue == 0)
    #expect(CKShare.ParticipantPermission.none.rawValue == 1)
    #expect(CKShare.ParticipantPermission.readOnly.rawValue == 2)
    #expect(CKShare.ParticipantPermission.readWrite.rawValue == 3)
    #expect(CKShare.ParticipantRole.unknown.rawValue == 0)
    #expect(CKShare.ParticipantRole.owner.rawValue == 1)
    #expect(CKShare.ParticipantRole.administrator.rawValue == 2)
    #expect(CKShare.ParticipantRole.privateUser.rawValue == 3)
    #expect(CKShare.ParticipantRole.publicUser.rawValue == 4)
    #expect(CKShare.SystemFieldKey.title == "cloudkit.title")
    #expect(CKShare.SystemFieldKey.thumbnailImageData == "cloudkit.thumbnailImageData")
    #expect(CKShare.SystemFieldKey.shareType == "cloudkit.type")
  }

  @Test("Raw values of permissions are Apple's")
  @available(*, deprecated)
  func permissionRawValues() {
    #expect(CKContainer.ApplicationPermissions.userDiscoverability.rawValue == 1)
    #expect(CKContainer.ApplicationPermissionStatus.initialState.rawValue == 0)
    #expect(CKContainer.ApplicationPermissionStatus.couldNotComplete.rawValue == 1)
    #expect(CKContainer.ApplicationPermissionStatus.denied.rawValue == 2)
    #expect(CKContainer.ApplicationPermissionStatus.granted.rawValue == 3)
  }

  @Test("The names of older code mean the same")
  @available(*, deprecated)
  func oldNames() {
    #expect(CKShareParticipantPermission.readOnly == CKShare.ParticipantPermission.readOnly)
    #expect(CKShare.Participant.Role.owner == CKShareParticipantRole.owner)
    #expect(
      CKShare_Participant_AcceptanceStatus.pending == CKShareParticipantAcceptanceStatus.pending)
    #expect(CKShareTitleKey == CKShare.SystemFieldKey.title)
    #expect(CKShare.ParticipantType.publicUser.rawValue == 4)
    let participant = participant("a@x")
    #expect(participant.type == .privateUser)
    participant.type = .publicUser
    #expect(participant.role == .publicUser)
    participant.role = .administrator
    #expect(participant.type.rawValue == 2)
    #expect(
      CKContainer.Application.PermissionStatus.granted == CKApplicationPermissionStatus.granted)
  }

  @Test("A new share lies in its root's zone and belongs to the current user")
  func newShare() {
    let share = CKShare(rootRecord: root)
    #expect(share.recordType == "cloudkit.share")
    #expect(share.recordType == CKRecord.SystemType.share)
    #expect(share.recordID.zoneID == Self.zoneID)
    #expect(share.recordID.recordName.hasPrefix("Share-"))
    #expect(share.publicPermission == .none)
    #expect(share.url == nil)
    #expect(share.participants == [share.owner])
    #expect(share.owner.role == .owner)
    #expect(share.owner.permission == .readWrite)
    #expect(share.owner.acceptanceStatus == .accepted)
    #expect(share.owner.userIdentity.userRecordID?.recordName == CKCurrentUserDefaultName)
    #expect(share.currentUserParticipant == share.owner)
    let shareID = CKRecord.ID(recordName: "mine", zoneID: Self.zoneID)
    #expect(CKShare(rootRecord: root, shareID: shareID).recordID == shareID)
    let whole = CKShare(recordZoneID: Self.zoneID)
    #expect(
      whole.recordID
        == CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: Self.zoneID))
  }

  @Test("Making a share sets the share of its root, which is no change of the root to save")
  func shareOfRoot() throws {
    #expect(root.share == nil)
    let share = CKShare(rootRecord: root)
    #expect(root.share == CKRecord.Reference(recordID: share.recordID, action: .none))
    #expect(root.value(forKey: "share") as? CKRecord.Reference == root.share)
    #expect(root.changedKeys().isEmpty)
    #expect((root.copy() as? CKRecord)?.share == root.share)
    #expect(try archivedAndBack(root).share == root.share)
    let shareID = CKRecord.ID(recordName: "mine", zoneID: Self.zoneID)
    _ = CKShare(rootRecord: root, shareID: shareID)
    #expect(root.share?.recordID == shareID)
    #expect(share.share == nil)
  }

  @Test("The root as it was fetched keeps the share of the answer")
  func shareOfFetchedRoot() throws {
    let zoneID = ZoneID(zoneName: "Notes")
    let fetched = CKRecord(
      Record(
        recordID: RecordID(recordName: "root", zoneID: zoneID), recordType: "Note",
        recordChangeTag: "1", share: Reference(recordName: "old", zoneID: zoneID)))
    #expect(fetched.share?.recordID.recordName == "old")
    let share = CKShare(rootRecord: fetched)
    #expect(fetched.share?.recordID == share.recordID)
    #expect(fetched.ancestor?.share?.recordID.recordName == "old")
  }

  @Test("A share in another zone than its root stops the program")
  func otherZone() async {
    await #expect(processExitsWith: .failure) {
      let zoneID = CKRecordZone.ID(zoneName: "Notes")
      let root = CKRecord(
        recordType: "Note", recordID: CKRecord.ID(recordName: "root", zoneID: zoneID))
      _ = CKShare(rootRecord: root, shareID: CKRecord.ID(recordName: "s"))
    }
  }

  @Test("A share's title is a field like others")
  func fields() {
    let share = CKShare(rootRecord: root)
    share[CKShare.SystemFieldKey.title] = "Plans" as CKRecordValue
    share[CKShare.SystemFieldKey.thumbnailImageData] = Data([1])
    #expect(share[CKShare.SystemFieldKey.title] as? String == "Plans")
    #expect(share.changedKeys() == ["cloudkit.thumbnailImageData", "cloudkit.title"])
  }

  @Test("Adding a person again changes role and permission; removing takes the person out")
  func participants() {
    let share = CKShare(rootRecord: root)
    let ben = participant("ben@example.com")
    #expect(ben.role == .privateUser)
    #expect(ben.permission == .readOnly)
    #expect(ben.acceptanceStatus == .pending)
    share.addParticipant(ben)
    #expect(share.participants.count == 2)
    let again = participant("ben@example.com")
    again.permission = .readWrite
    again.role = .administrator
    share.addParticipant(again)
    #expect(share.participants.count == 2)
    #expect(share.participants[1] === ben)
    #expect(ben.permission == .readWrite)
    #expect(ben.role == .administrator)
    share.addParticipant(participant("eva@example.com"))
    share.removeParticipant(again)
    #expect(
      share.participants.map(\.userIdentity.lookupInfo?.emailAddress) == [nil, "eva@example.com"])
    share.addParticipant(share.owner)
    #expect(share.participants.count == 2)
  }

  @Test("Participants are equal if their IDs, user record IDs or lookup infos agree")
  func equality() {
    func participant(_ id: String, _ user: String? = nil, _ email: String? = nil)
      -> CKShare.Participant
    {
      CKShareParticipant(
        ShareParticipant(
          participantID: id, role: .privateUser, permission: .readOnly, acceptance: .pending,
          identity: UserIdentity(
            userRecordName: user, lookup: email.map { UserLookup(emailAddress: $0) })))
    }
    let ben = participant("1", "_ben", "ben@example.com")
    let equal = [
      participant("1"), participant("2", "_ben"), participant("3", nil, "ben@example.com"),
      participant("1", "_eva", "eva@example.com"), participant("4", "_ben", "b@example.com"),
    ]
    for other in equal {
      #expect(ben == other && other == ben)
      #expect(ben.hash == other.hash)
    }
    #expect(ben != participant("2"))
    #expect(ben != participant("2", "_eva", "eva@example.com"))
    #expect(participant("1") != participant("2"))
    #expect(Set([ben] + equal.prefix(1)).count == 1)
    #expect(!ben.isEqual("1"))
  }

  @Test("Participants are equal when they are the same person")
  func samePerson() {
    let ben = participant("ben@example.com")
    let other = participant("ben@example.com")
    other.permission = .readWrite
    #expect(ben == other)
    #expect(ben.hash == other.hash)
    #expect(ben.participantID != other.participantID)
    #expect(ben != participant("eva@example.com"))
    let first = CKShare.Participant.oneTimeURLParticipant()
    #expect(first != CKShare.Participant.oneTimeURLParticipant())
    #expect(first == first.copy() as? CKShare.Participant)
    #expect(first.userIdentity.lookupInfo == nil)
    #expect(!first.isApprovedRequester)
    #expect(first.dateAddedToShare == nil)
  }

  @Test("A copy is a share of its own")
  func copying() throws {
    let share = CKShare(rootRecord: root)
    share["cloudkit.title"] = "Plans"
    let ben = participant("ben@example.com")
    share.addParticipant(ben)
    let copy = try #require((share as CKRecord).copy() as? CKShare)
    #expect(copy !== share)
    #expect(copy.recordID == share.recordID)
    #expect(copy["cloudkit.title"] as? String == "Plans")
    #expect(copy.participants == share.participants)
    #expect(copy.owner === copy.participants[0])
    #expect(copy.currentUserParticipant === copy.owner)
    ben.permission = .readWrite
    share.publicPermission = .readOnly
    #expect(copy.participants[1].permission == .readOnly)
    #expect(copy.publicPermission == .none)
  }

  @Test("A share survives a secure archive, and its system fields alone do")
  func archived() throws {
    let share = CKShare(rootRecord: root)
    share["cloudkit.title"] = "Plans"
    share.publicPermission = .readOnly
    let ben = participant("ben@example.com")
    ben.permission = .readWrite
    share.addParticipant(ben)
    let back = try archivedAndBack(share)
    #expect(back.recordID == share.recordID)
    #expect(back.recordType == "cloudkit.share")
    #expect(back["cloudkit.title"] as? String == "Plans")
    #expect(back.publicPermission == .readOnly)
    #expect(back.participants == share.participants)
    #expect(back.participants[1].permission == .readWrite)
    #expect(back.participants[1].participantID == ben.participantID)
    #expect(back.owner == share.owner)
    #expect(back.currentUserParticipant == share.owner)
    #expect(back.sharing.withLock { $0.model } == share.sharing.withLock { $0.model })

    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    share.encodeSystemFields(with: archiver)
    archiver.finishEncoding()
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    let bare = CKShare(coder: unarchiver)
    unarchiver.finishDecoding()
    #expect(bare.recordID == share.recordID)
    #expect(bare.allKeys().isEmpty)
    #expect(bare.participants.count == 2)
    #expect(bare.publicPermission == .readOnly)
  }

  @Test("Classes in archives have Apple's names")
  func archivedNames() throws {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: CKShare(rootRecord: root), requiringSecureCoding: true)
    let list = try PropertyListSerialization.propertyList(from: data, format: nil)
    let objects = try #require((list as? [String: Any])?["$objects"] as? [Any])
    let names = Set(objects.compactMap { ($0 as? [String: Any])?["$classname"] as? String })
    let expected: Set = [
      "CKShare", "CKShareParticipant", "CKUserIdentity", "CKRecordID", "CKRecordZoneID",
      "CKRecordValueStore", "CKEncryptedRecordValueStore",
    ]
    #expect(names.filter { !$0.hasPrefix("NS") } == expected)
  }

  @Test("A participant survives a secure archive")
  func archivedParticipant() throws {
    let ben = CKShareParticipant(
      ShareParticipant(
        participantID: "p1", role: .publicUser, permission: .readWrite, acceptance: .removed,
        identity: UserIdentity(userRecordName: "_ben"), oneTimeURL: "https://x.test/s/1",
        isApprovedRequester: true, added: Timestamp(milliseconds: 1_700_000_000_000)))
    #expect(ben.isApprovedRequester)
    #expect(ben.dateAddedToShare == Date(timeIntervalSince1970: 1_700_000_000))
    let copy = try #require(ben.copy() as? CKShare.Participant)
    let back = try archivedAndBack(ben)
    for other in [copy, back] {
      #expect(other.isApprovedRequester)
      #expect(other.dateAddedToShare == ben.dateAddedToShare)
      #expect(other.joinsByOneTimeURL)
    }
    #expect(back == ben)
    #expect(back.model == ben.model)
    #expect(back.role == .publicUser)
    #expect(back.acceptanceStatus == .removed)
    #expect(back.oneTimeURL?.absoluteString == "https://x.test/s/1")
  }

  @Test("A share from the server has its URL, its participants and the current user among them")
  func fromServer() throws {
    let anna = ShareParticipant(
      participantID: "o", role: .owner, permission: .readWrite, acceptance: .accepted,
      identity: UserIdentity(userRecordName: "_anna"))
    let ben = ShareParticipant(
      participantID: "b", role: .privateUser, permission: .readOnly, acceptance: .pending,
      identity: UserIdentity(userRecordName: "_ben"), oneTimeURL: "https://x.test/once")
    let model = Record(
      recordID: RecordID(
        recordName: "s", zoneID: ZoneID(zoneName: "Notes", ownerName: "_anna")),
      recordType: "cloudkit.share", recordChangeTag: "1",
      shareContent: ShareContent(
        publicPermission: .readOnly, participants: [anna, ben], owner: anna,
        currentParticipant: ben, shortGUID: "0abc", url: "https://x.test/share/0abc"),
      fields: ["cloudkit.title": .string("Plans")])
    let share = try #require(CKRecord(model) as? CKShare)
    #expect(share.recordChangeTag == "1")
    #expect(share["cloudkit.title"] as? String == "Plans")
    #expect(share.changedKeys().isEmpty)
    #expect(share.url == URL(string: "https://x.test/share/0abc"))
    #expect(share.publicPermission == .readOnly)
    #expect(share.participants.count == 2)
    #expect(share.owner === share.participants[0])
    #expect(share.currentUserParticipant === share.participants[1])
    #expect(share.oneTimeURL(for: "b") == URL(string: "https://x.test/once"))
    #expect(share.oneTimeURL(for: "o") == nil)
  }

  @Test("A save sends what the protocol asks of a share, and reads the share of the answer")
  func saving() async throws {
    let transport = ScriptedTransport { request, _ in
      .ok(
        Data(
          #"""
          {"records": [{"recordName": "s", "recordType": "cloudkit.share", "fields": {},
            "zoneID": {"zoneName": "Notes"}, "recordChangeTag": "7", "shortGUID": "0abc",
            "webpageURL": "https://x.test/share/0abc", "publicPermission": "READ_ONLY",
            "participants": [{"participantId": "o", "type": "OWNER", "permission": "READ_WRITE",
              "acceptanceStatus": "ACCEPTED", "userIdentity": {"userRecordName": "_anna"}}]},
            {"recordName": "root", "recordType": "Note", "fields": {},
            "zoneID": {"zoneName": "Notes"}, "recordChangeTag": "8"}]}
          """#.utf8))
    }
    let container = CKContainer.scripted(transport)
    let share = CKShare(
      rootRecord: root, shareID: CKRecord.ID(recordName: "s", zoneID: Self.zoneID))
    share.publicPermission = .readOnly
    share.addParticipant(participant("ben@example.com"))
    let results = try await container.privateCloudDatabase.modifyRecords(
      saving: [share, root], deleting: [])
    let body = try #require(transport.requests.first?.body)
    let request = try ModifyRecordsRequest(parsing: body, context: serverContext)
    let operation = try #require(try request.operations.first?.get())
    #expect(operation.recordType == "cloudkit.share")
    #expect(operation.shareContent?.root == ShareContent.Root(recordName: "root"))
    #expect(operation.shareContent?.publicPermission == .readOnly)
    #expect(operation.shareContent?.participants?.map(\.role) == [.owner, .privateUser])
    #expect(
      operation.shareContent?.participants?[1].identity.lookup?.emailAddress == "ben@example.com")
    #expect(try request.operations[1].get().shareContent == nil)
    let saved = try #require(try results.saveResults[share.recordID]?.get() as? CKShare)
    #expect(saved.url?.absoluteString == "https://x.test/share/0abc")
    #expect(saved.owner.userIdentity.userRecordID?.recordName == "_anna")
    #expect(saved.currentUserParticipant === saved.owner)
    // The share that the program passed has the same, in objects of its own.
    #expect(share.url == saved.url && share.recordChangeTag == "7")
    #expect(share.participants == saved.participants && share.owner !== saved.owner)
    #expect(root.recordChangeTag == "8")
  }

  @Test("A participant who is added while the share is saved is part of the next save")
  func savingMeanwhile() async throws {
    let share = CKShare(recordZoneID: Self.zoneID)
    let carl = participant("carl@example.com")
    let transport = ScriptedTransport { request, _ in
      share.addParticipant(carl)
      return .ok(
        Data(
          #"""
          {"records": [{"recordName": "cloudkit.zoneshare", "recordType": "cloudkit.share",
            "fields": {}, "zoneID": {"zoneName": "Notes"}, "recordChangeTag": "7",
            "webpageURL": "https://x.test/share/0abc", "participants": []}]}
          """#.utf8))
    }
    let database = CKContainer.scripted(transport).privateCloudDatabase
    try await database.save(share)
    #expect(share.url?.absoluteString == "https://x.test/share/0abc")
    #expect(share.recordChangeTag == "7")
    #expect(share.participants.contains(carl))
    try await database.save(share)
    let body = try #require(transport.requests.last?.body)
    let request = try ModifyRecordsRequest(parsing: body, context: serverContext)
    let operation = try #require(try request.operations.first?.get())
    #expect(operation.recordChangeTag == "7")
    let addresses = operation.shareContent?.participants?.compactMap {
      $0.identity.lookup?.emailAddress
    }
    #expect(addresses == ["carl@example.com"])
  }
}
