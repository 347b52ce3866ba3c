import CloudKit
import Testing

struct AppleSharingArchiveTests {
  private func read<Object: NSObject & NSSecureCoding>(
    _ type: Object.Type, _ build: (inout ArchiveFixture) -> String
  ) throws -> Object {
    var fixture = ArchiveFixture()
    fixture.set("root", build(&fixture))
    return try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: fixture.data))
  }

  private func expectPlans(_ share: CKShare) throws {
    #expect(share.recordID.recordName == "Share-1" && share.recordID.zoneID.zoneName == "Notes")
    #expect(share.recordChangeTag == "mf1" && share["cloudkit.title"] as? String == "Plans")
    #expect(share.publicPermission == .readOnly)
    #expect(share.url?.absoluteString == "https://x.test/share/0abc")
    #expect(share.participants.map(\.participantID) == ["p1", "p2"])
    #expect(share.participants.map(\.role) == [.owner, .privateUser])
    #expect(share.participants.map(\.permission) == [.readWrite, .readOnly])
    #expect(share.participants.map(\.acceptanceStatus) == [.accepted, .pending])
    let names = share.participants.map(\.userIdentity.nameComponents)
    #expect(names.map { $0?.givenName } == ["Anna", "Ben"])
    #expect(names.map { $0?.familyName } == ["Berg", "Cho"])
    #expect(share.owner === share.participants[0])
    #expect(share.currentUserParticipant === share.participants[0])
    #expect(share.owner.userIdentity.lookupInfo?.emailAddress == "anna@example.com")
    #expect(share.owner.userIdentity.userRecordID?.recordName == "__defaultOwner__")
    #expect(share.participants[1].userIdentity.userRecordID?.recordName == "_ben")
    #expect(share.participants.allSatisfy { $0.userIdentity.hasiCloudAccount })
  }

  @Test("A share is read with its participants, and archived again it is the same")
  func share() throws {
    let share = try read(CKShare.self) { $0.addShare() }
    try expectPlans(share)
    try expectPlans(try archivedAndBack(share))
  }

  @Test("A share of which only the record was archived has the caller as its owner")
  func bareShare() throws {
    let share = try read(CKShare.self) { fixture in
      let zoneID = fixture.addZoneID("Notes", owner: "__defaultOwner__")
      let members = [
        ("RecordType", fixture.add(string: "cloudkit.share")),
        ("RecordID", fixture.addRecordID("Share-1", zoneID: zoneID)),
      ]
      return fixture.add(instanceOf: "CKShare", members)
    }
    #expect(share.owner.userIdentity.userRecordID?.recordName == CKCurrentUserDefaultName)
    #expect(share.participants.count == 1 && share.url == nil)
  }

  @Test("A share's metadata is read, and archived again it is the same")
  func metadata() throws {
    let metadata = try read(CKShareMetadata.self) { fixture in
      let zoneID = fixture.addZoneID("Notes", owner: "_anna")
      let owner = fixture.addIdentity("_anna", email: nil, given: "Anna", family: "Berg")
      let root = fixture.addRecordID("note-1", zoneID: zoneID)
      let members = [
        ("ContainerID", fixture.addContainerID()), ("Share", fixture.addShare()),
        ("OwnerIdentity", owner), ("ParticipantType", "<integer>3</integer>"),
        ("ParticipantStatus", "<integer>1</integer>"),
        ("ParticipantPermission", "<integer>3</integer>"), ("RootRecord", ArchiveFixture.null),
        ("RootRecordID", root), ("RootRecordType", fixture.add(string: "Note")),
        ("PublicToken", ArchiveFixture.null), ("InvitationToken", ArchiveFixture.null),
        ("SharedItemHierarchyIDs", fixture.add(list: [root], as: "NSArray")),
      ]
      return fixture.add(instanceOf: "CKShareMetadata", members)
    }
    for metadata in [metadata, try archivedAndBack(metadata)] {
      #expect(metadata.containerIdentifier == "iCloud.com.example.notes")
      #expect(metadata.hierarchicalRootRecordID?.recordName == "note-1")
      #expect(metadata.ownerIdentity.nameComponents?.familyName == "Berg")
      #expect(metadata.participantRole == .privateUser && metadata.participantStatus == .pending)
      #expect(metadata.participantPermission == .readWrite && metadata.rootRecord == nil)
      try expectPlans(metadata.share)
    }
  }

  @Test("A lookup info without a value is read, as one of an identity that was not found")
  func emptyLookupInfo() throws {
    let info = try read(CKUserIdentityLookupInfo.self) { fixture in
      let members = ["EmailAddress", "PhoneNumber", "RecordID"].map { ($0, ArchiveFixture.null) }
      return fixture.add(instanceOf: "CKUserIdentityLookupInfo", members)
    }
    #expect(info.emailAddress == nil && info.phoneNumber == nil && info.userRecordID == nil)
  }

  @Test("The cursor of a query is read, and archived again it is the same")
  func cursor() throws {
    let cursor = try read(CKQueryCursor.self) { fixture in
      let bytes = Data([1, 0, 0xFF, 0x80]).base64EncodedString()
      let members = [
        ("CursorData", fixture.add("<data>\(bytes)</data>")),
        ("ZoneID", fixture.addZoneID("Notes", owner: "__defaultOwner__")),
      ]
      return fixture.add(instanceOf: "CKQueryCursor", members)
    }
    #expect(cursor.zoneID?.zoneName == "Notes")
    #expect(try archivedAndBack(cursor) == cursor)
  }

  @Test("A number that has no name yet goes through an archive")
  func unknownNumbers() throws {
    var fixture = ArchiveFixture()
    let ben = fixture.addIdentity("_ben", email: nil, given: "Ben", family: "Cho")
    fixture.set(
      "root",
      fixture.addParticipant(
        "p", identity: ben, role: 9, permission: 8, status: 7, isCurrentUser: false))
    let read = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShareParticipant.self, from: fixture.data))
    for participant in [read, try archivedAndBack(read)] {
      #expect(participant.role.rawValue == 9 && participant.permission.rawValue == 8)
      #expect(participant.acceptanceStatus.rawValue == 7)
    }
  }

  @Test("Sharing classes are written with Apple's keys")
  func keys() throws {
    let share = try read(CKShare.self) { $0.addShare() }
    let data = try NSKeyedArchiver.archivedData(withRootObject: share, requiringSecureCoding: true)
    let list = try PropertyListSerialization.propertyList(from: data, format: nil)
    let objects = (list as? [String: Any])?["$objects"] as? [Any] ?? []
    let keys = Set(objects.compactMap { $0 as? [String: Any] }.flatMap(\.keys))
    #expect(
      keys.isSuperset(of: [
        "Participants", "PublicPermission", "RootRecordID", "URL", "ParticipantID", "Type",
        "Permission", "AcceptanceStatus", "IsCurrentUser", "UserIdentity", "UserRecordID",
        "LookupInfo", "NameComponents", "HasICloudAccount", "EmailAddress", "NS.givenName",
      ]))
    let classes = Set(
      objects.compactMap { ($0 as? [String: Any])?["$classname"] as? String })
    #expect(classes.isSuperset(of: ["NSPersonNameComponents", "_NSPersonNameComponentsData"]))
  }

  @Test("A program's own names of persons are archived by Foundation as before")
  func ownNames() throws {
    _ = try read(CKShare.self) { $0.addShare() }
    #expect(
      NSKeyedUnarchiver.class(forClassName: "NSPersonNameComponents") == nil)
  }
}
