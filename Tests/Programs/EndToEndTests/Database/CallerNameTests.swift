import CloudKit
import Testing

/// Tests of the name that records and shares have for the current user: `CKCurrentUserDefaultName`
/// for the user, and the record name for everybody else.
struct CallerNameTests {
  private static let me = CKRecord.ID(recordName: CKCurrentUserDefaultName)

  private func expectMine(
    _ record: CKRecord?, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(record?.creatorUserRecordID == Self.me, sourceLocation: sourceLocation)
    #expect(record?.lastModifiedUserRecordID == Self.me, sourceLocation: sourceLocation)
  }

  @Test("The user's own records name the user by default, however they are fetched")
  func ownRecords() async throws {
    try await Cloud.run { cloud in
      let anna = try await cloud.container(of: "anna", device: "phone")
      let database = anna.privateCloudDatabase
      let zoneID = CKRecordZone.ID(zoneName: "Notes")
      try await database.save(CKRecordZone(zoneID: zoneID))
      let note = CKRecord(
        recordType: "Note", recordID: CKRecord.ID(recordName: "n", zoneID: zoneID))
      let saved = try await database.save(note)
      expectMine(saved)
      expectMine(note)
      expectMine(try await database.record(for: note.recordID))
      let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
      expectMine(try changes.modificationResultsByID[note.recordID]?.get().record)
      let query = CKQuery(
        recordType: "Note", predicate: NSPredicate(format: "creatorUserRecordID == %@", Self.me))
      let found = try await database.records(matching: query, inZoneWith: zoneID)
      #expect(found.matchResults.count == 1)
      expectMine(try found.matchResults.first?.1.get())
      let conflict = await #expect(throws: CKError.self) {
        try await database.save(
          CKRecord(recordType: "Note", recordID: note.recordID))
      }
      expectMine(conflict?.serverRecord)

      let coder = NSKeyedArchiver(requiringSecureCoding: true)
      saved.encodeSystemFields(with: coder)
      coder.finishEncoding()
      let decoder = try NSKeyedUnarchiver(forReadingFrom: coder.encodedData)
      expectMine(CKRecord(coder: decoder))
    }
  }

  @Test("In the public database a record is the user's own, or names its user")
  func publicRecords() async throws {
    try await Cloud.run { cloud in
      let anna = try await cloud.container(of: "anna", device: "phone")
      let ben = try await cloud.container(of: "ben", device: "pad")
      let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
      note["by"] = CKRecord.Reference(recordID: Self.me, action: .none)
      try await anna.publicCloudDatabase.save(note)
      let annaID = try await anna.userRecordID()
      #expect(annaID != Self.me)

      let foreign = try await ben.publicCloudDatabase.record(for: note.recordID)
      #expect(foreign.creatorUserRecordID == annaID)
      #expect(foreign.lastModifiedUserRecordID == annaID)
      // A field that others read names the user to them.
      #expect((foreign["by"] as? CKRecord.Reference)?.recordID == annaID)
      expectMine(try await anna.publicCloudDatabase.record(for: note.recordID))

      let mine = NSPredicate(format: "creatorUserRecordID IN %@", [Self.me])
      let query = CKQuery(recordType: "Note", predicate: mine)
      #expect(try await anna.publicCloudDatabase.records(matching: query).matchResults.count == 1)
      #expect(try await ben.publicCloudDatabase.records(matching: query).matchResults.isEmpty)
      let nobody = await cloud.container(token: nil, device: "x")
      #expect(try await nobody.publicCloudDatabase.records(matching: query).matchResults.isEmpty)

      // The name leads to the user's own record.
      let profile = try await anna.publicCloudDatabase.record(for: Self.me)
      #expect(profile.recordType == CKRecord.SystemType.userRecord)
      #expect(profile.recordID == annaID)
    }
  }

  @Test("A share names the current user by default, to the owner and to participants")
  func shares() async throws {
    try await Cloud.run { cloud in
      let anna = try await cloud.container(of: "anna", device: "phone")
      let ben = try await cloud.container(of: "ben", device: "pad")
      let annaID = try await anna.userRecordID()
      let benID = try await ben.userRecordID()
      let database = anna.privateCloudDatabase
      let zoneID = CKRecordZone.ID(zoneName: "Notes")
      try await database.save(CKRecordZone(zoneID: zoneID))
      let root = CKRecord(
        recordType: "Note", recordID: CKRecord.ID(recordName: "root", zoneID: zoneID))
      let share = CKShare(rootRecord: root)
      share.addParticipant(try await anna.shareParticipant(forUserRecordID: benID))
      _ = try await database.modifyRecords(saving: [root, share], deleting: [])
      expectMine(share)
      #expect(share.owner.userIdentity.userRecordID == Self.me)
      #expect(share.currentUserParticipant?.userIdentity.userRecordID == Self.me)
      #expect(
        share.participants.map(\.userIdentity.userRecordID) == [Self.me, benID])
      let url = try #require(share.url)
      let own = try await anna.shareMetadata(for: url)
      #expect(own.ownerIdentity.userRecordID == Self.me)
      #expect(own.share.recordID == share.recordID && own.hierarchicalRootRecordID == root.recordID)

      let metadata = try await ben.shareMetadata(for: url)
      #expect(metadata.ownerIdentity.userRecordID == annaID)
      #expect(metadata.share.creatorUserRecordID == annaID)
      #expect(metadata.share.currentUserParticipant?.userIdentity.userRecordID == Self.me)
      let accepted = try await ben.accept(metadata)
      #expect(accepted.owner.userIdentity.userRecordID == annaID)
      #expect(accepted.currentUserParticipant?.userIdentity.userRecordID == Self.me)
      #expect(accepted.recordID.zoneID.ownerName == annaID.recordName)
      let seen = try #require(
        try await ben.sharedCloudDatabase.record(for: accepted.recordID) as? CKShare)
      #expect(seen.currentUserParticipant?.userIdentity.userRecordID == Self.me)

      // An owner who adds the own participant again, by either name, stays the one owner.
      for name in [Self.me, annaID] {
        let fresh = try #require(try await database.record(for: share.recordID) as? CKShare)
        fresh.addParticipant(try await anna.shareParticipant(forUserRecordID: name))
        let again = try #require(try await database.save(fresh) as? CKShare)
        #expect(again.participants.map(\.userIdentity.userRecordID) == [Self.me, benID])
        #expect(again.owner.role == .owner)
      }
    }
  }
}
