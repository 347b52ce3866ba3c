import CloudKit
import Testing

struct SharingTests {
  private let url = URL(string: "https://petrel.example/share/0abc")!

  private func error<Value>(_ result: Result<Value, any Error>?) -> CKError? {
    if case .failure(let error) = result { return error as? CKError }
    return nil
  }

  @Test("An owner shares a record and a zone, changes participants, and ends both")
  func saving() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let zoneID = CKRecordZone.ID(zoneName: "Notes")
      try await database.save(CKRecordZone(zoneID: zoneID))
      let root = CKRecord(
        recordType: "Note", recordID: CKRecord.ID(recordName: "root", zoneID: zoneID))
      let share = CKShare(rootRecord: root)
      share[CKShare.SystemFieldKey.title] = "Plans"
      let saved = try await database.modifyRecords(saving: [root, share], deleting: [])
      let savedRoot = try #require(try saved.saveResults[root.recordID]?.get())
      #expect(savedRoot.share?.recordID == share.recordID)
      let first = try #require(try saved.saveResults[share.recordID]?.get() as? CKShare)
      let url = try #require(first.url)
      #expect(share.url == url && share.recordChangeTag == first.recordChangeTag)
      #expect(root.recordChangeTag == savedRoot.recordChangeTag)
      #expect(url.pathComponents.dropLast().last == "share" && url.fragment == "Plans")
      #expect(first.owner.role == .owner && first.currentUserParticipant?.role == .owner)
      #expect(first[CKShare.SystemFieldKey.title] == "Plans")

      let container = try await cloud.container(of: "anna", device: "phone")
      let ben = try await container.shareParticipant(forEmailAddress: "ben@example.com")
      ben.permission = .readWrite
      let older = try #require(first.copy() as? CKShare)
      first.addParticipant(ben)
      let invited = try #require(try await database.save(first) as? CKShare)
      #expect(invited.participants.count == 2)
      let known = try #require(invited.participants.first { $0.role == .privateUser })
      #expect(known.acceptanceStatus == .pending && known.permission == .readWrite)
      // A save of an older state is a conflict with the present one.
      let conflict = await #expect(throws: CKError.self) { try await database.save(older) }
      #expect(conflict?.code == .serverRecordChanged)
      #expect((conflict?.serverRecord as? CKShare)?.participants.count == 2)
      invited.removeParticipant(known)
      let alone = try #require(try await database.save(invited) as? CKShare)
      #expect(alone.participants.count == 1 && alone.url == url)

      let whole = await #expect(throws: CKError.self) {
        try await database.save(CKShare(recordZoneID: zoneID))
      }
      #expect(whole?.code == .alreadyShared)
      try await database.deleteRecord(withID: share.recordID)
      #expect(try await database.record(for: root.recordID).share == nil)
      let zoneShare = try await database.save(CKShare(recordZoneID: zoneID))
      #expect((zoneShare as? CKShare)?.url != nil)
      #expect(zoneShare.recordID.recordName == CKRecordNameZoneWideShare)
      #expect(try await database.recordZone(for: zoneID).share?.recordID == zoneShare.recordID)
    }
  }

  @Test("The metadata of a share is for those whom it invites; for others there is no such share")
  func metadata() async throws {
    try await Cloud.run { cloud in
      let anna = try await cloud.container(of: "anna", device: "phone")
      let ben = try await cloud.container(of: "ben", device: "pad")
      let database = anna.privateCloudDatabase
      let zoneID = CKRecordZone.ID(zoneName: "Notes")
      try await database.save(CKRecordZone(zoneID: zoneID))
      let root = CKRecord(
        recordType: "Note", recordID: CKRecord.ID(recordName: "root", zoneID: zoneID))
      root["text"] = "Milk"
      let share = CKShare(rootRecord: root)
      share.addParticipant(
        try await anna.shareParticipant(forUserRecordID: try await ben.userRecordID()))
      let saved = try await database.modifyRecords(saving: [root, share], deleting: [])
      var shared = try #require(try saved.saveResults[share.recordID]?.get() as? CKShare)
      let url = try #require(shared.url)
      let metadata = try await ben.shareMetadata(for: url)
      #expect(metadata.participantStatus == .pending && metadata.participantRole == .privateUser)
      #expect(metadata.hierarchicalRootRecordID?.recordName == "root")
      #expect(
        metadata.share.recordID.zoneID.ownerName == (try await anna.userRecordID()).recordName)
      #expect(metadata.share.currentUserParticipant?.acceptanceStatus == .pending)
      let cora = try await cloud.container(of: "cora", device: "phone")
      let foreign = await #expect(throws: CKError.self) { try await cora.shareMetadata(for: url) }
      #expect(foreign?.code == .unknownItem)
      let results = try await ben.shareMetadatas(for: [url, self.url])
      #expect(results.count == 2 && error(results[self.url])?.code == .unknownItem)
      let own = try await ben.accept(metadata)
      #expect(own.currentUserParticipant?.acceptanceStatus == .accepted)
      #expect(try await ben.shareMetadata(for: url).participantStatus == .accepted)
      #expect(try await ben.accept(metadata).recordChangeTag == own.recordChangeTag)
      // The acceptance has changed the share.
      let changed = await #expect(throws: CKError.self) { try await database.save(shared) }
      #expect(changed?.code == .serverRecordChanged)
      shared = try #require(changed?.serverRecord as? CKShare)
      #expect(shared.participants.map(\.acceptanceStatus) == [.accepted, .accepted])
      shared.allowsAccessRequests = true
      let opened = try #require(try await database.save(shared) as? CKShare)
      let access = try await cora.requestShareAccess(for: [url, self.url])
      for url in [url, self.url] { #expect(throws: Never.self) { try access[url]?.get() } }
      let already = try await ben.requestShareAccess(for: [url])
      #expect(error(already[url])?.code == .participantAlreadyInvited)
      let asked = try #require(
        try await database.record(for: opened.recordID) as? CKShare)
      let requester = try #require(asked.requesters.first)
      #expect(requester.userIdentity.userRecordID == (try await cora.userRecordID()))
      asked.denyRequesters([requester])
      let denied = try #require(try await database.save(asked) as? CKShare)
      #expect(denied.requesters.isEmpty)
      let nobody = await cloud.container(token: nil, device: "x")
      let stranger = await #expect(throws: CKError.self) {
        try await nobody.shareMetadatas(for: [url])
      }
      #expect(stranger?.code == .notAuthenticated)
    }
  }

  @Test("The first user with a link for a single use accepts it; for others it leads nowhere")
  func oneTimeLink() async throws {
    try await Cloud.run { cloud in
      let anna = try await cloud.container(of: "anna", device: "phone")
      let ben = try await cloud.container(of: "ben", device: "pad")
      let cora = try await cloud.container(of: "cora", device: "phone")
      let database = anna.privateCloudDatabase
      let zoneID = CKRecordZone.ID(zoneName: "Notes")
      try await database.save(CKRecordZone(zoneID: zoneID))
      let root = CKRecord(
        recordType: "Note", recordID: CKRecord.ID(recordName: "root", zoneID: zoneID))
      let share = CKShare(rootRecord: root)
      let guest = CKShare.Participant.oneTimeURLParticipant()
      guest.permission = .readWrite
      share.addParticipant(guest)
      _ = try await database.modifyRecords(saving: [root, share], deleting: [])
      let link = try #require(share.oneTimeURL(for: guest.participantID))
      let url = try #require(share.url)
      #expect(link.lastPathComponent != url.lastPathComponent)

      let metadata = try await ben.shareMetadata(for: link)
      // The metadata may come from an archive.
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: metadata, requiringSecureCoding: true)
      let kept = try #require(
        try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.Metadata.self, from: data))
      let accepted = try await ben.accept(kept)
      #expect(accepted.currentUserParticipant?.acceptanceStatus == .accepted)
      #expect(accepted.currentUserParticipant?.permission == .readWrite)
      let zone = try #require(try await ben.sharedCloudDatabase.allRecordZones().first)
      #expect(zone.zoneID == accepted.recordID.zoneID)
      #expect(error(try await cora.shareMetadatas(for: [link])[link])?.code == .unknownItem)
    }
  }

  @Test(
    "A private share is refused to who is not invited, and a share without its root is no share")
  func uninvited() async throws {
    try await Cloud.run { cloud in
      let anna = try await cloud.container(of: "anna", device: "phone")
      let ben = try await cloud.container(of: "ben", device: "pad")
      let database = anna.privateCloudDatabase
      let zoneID = CKRecordZone.ID(zoneName: "Notes")
      try await database.save(CKRecordZone(zoneID: zoneID))
      let root = CKRecord(
        recordType: "Note", recordID: CKRecord.ID(recordName: "root", zoneID: zoneID))
      let unsaved = await #expect(throws: CKError.self) {
        try await database.save(CKShare(rootRecord: root))
      }
      #expect(unsaved?.code == .invalidArguments)
      let saved = try await database.save(root)
      // Natively a share is saved with its root, also if the root is saved already.
      let alone = await #expect(throws: CKError.self) {
        try await database.save(CKShare(rootRecord: saved))
      }
      #expect(alone?.code == .invalidArguments)

      let share = CKShare(rootRecord: saved)
      share.addParticipant(
        try await anna.shareParticipant(forUserRecordID: try await ben.userRecordID()))
      _ = try await database.modifyRecords(saving: [saved, share], deleting: [])
      let metadata = try await ben.shareMetadata(for: try #require(share.url))
      share.removeParticipant(try #require(share.participants.last))
      _ = try await database.save(share)
      let refused = await #expect(throws: CKError.self) { try await ben.accept(metadata) }
      #expect(refused?.code == .permissionFailure)
    }
  }

  @Test("A participant reads, changes and follows a shared list with its file, and leaves")
  @available(*, deprecated)
  func sharedDatabase() async throws {
    try await Cloud.run { cloud in
      let anna = try await cloud.container(of: "anna", device: "phone")
      let ben = try await cloud.container(of: "ben", device: "pad")
      _ = try await ben.requestApplicationPermission(.userDiscoverability)
      let zoneID = CKRecordZone.ID(zoneName: "Lists")
      try await anna.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
      let list = CKRecord(
        recordType: "List", recordID: CKRecord.ID(recordName: "list", zoneID: zoneID))
      let share = CKShare(rootRecord: list)
      let participant = try await anna.shareParticipant(
        forUserRecordID: try await ben.userRecordID())
      participant.permission = .readWrite
      share.addParticipant(participant)
      let saved = try await anna.privateCloudDatabase.modifyRecords(
        saving: [list, share], deleting: [])
      let url = try #require((try saved.saveResults[share.recordID]?.get() as? CKShare)?.url)

      let shared = ben.sharedCloudDatabase
      #expect(try await shared.allRecordZones().isEmpty)
      let accepted = try await ben.accept(try await ben.shareMetadata(for: url))
      let zone = try #require(try await shared.allRecordZones().first)
      #expect(zone.zoneID == accepted.recordID.zoneID)
      #expect(zone.zoneID.ownerName == (try await anna.userRecordID()).recordName)
      let zones = try await shared.databaseChanges(since: nil)
      #expect(zones.modifications.map(\.zoneID) == [zone.zoneID])

      let file = FileManager.default.temporaryDirectory.appendingPathComponent(
        "\(UUID().uuidString).txt")
      try Data("oat milk".utf8).write(to: file)
      let theirs = try await shared.record(
        for: CKRecord.ID(recordName: "list", zoneID: zone.zoneID))
      let item = CKRecord(
        recordType: "Item", recordID: CKRecord.ID(recordName: "milk", zoneID: zone.zoneID))
      item.setParent(theirs)
      item["photo"] = CKAsset(fileURL: file)
      let changed = try await shared.modifyRecords(saving: [item], deleting: [])
      #expect(throws: Never.self) { try changed.saveResults[item.recordID]?.get() }
      let found = try await shared.records(
        matching: CKQuery(recordType: "Item", predicate: NSPredicate(value: true)),
        inZoneWith: zone.zoneID)
      let photo = try #require(
        try found.matchResults.first?.1.get()["photo"] as? CKAsset)
      #expect(try Data(contentsOf: #require(photo.fileURL)) == Data("oat milk".utf8))
      let own = try await anna.privateCloudDatabase.record(
        for: CKRecord.ID(recordName: "milk", zoneID: zoneID))
      #expect(own.creatorUserRecordID == (try await ben.userRecordID()))
      let loose = CKRecord(
        recordType: "Item", recordID: CKRecord.ID(recordName: "loose", zoneID: zone.zoneID))
      let refused = await #expect(throws: CKError.self) { try await shared.save(loose) }
      #expect(refused?.code == .permissionFailure)

      let records = try await shared.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
      #expect(
        Set(records.modificationResultsByID.keys.map(\.recordName))
          == ["list", "milk", share.recordID.recordName])
      try await anna.privateCloudDatabase.deleteRecord(withID: own.recordID)
      let later = try await shared.recordZoneChanges(
        inZoneWith: zone.zoneID, since: records.changeToken)
      #expect(later.deletions.map(\.recordID.recordName) == ["milk"])
      try await shared.deleteRecord(withID: accepted.recordID)
      #expect(try await shared.allRecordZones().isEmpty)
      let gone = try await shared.databaseChanges(since: zones.changeToken)
      #expect(gone.deletions.map(\.zoneID) == [zone.zoneID])
    }
  }

  @Test("Participants are made whether the server knows them or not")
  func participants() async throws {
    try await Cloud.run { cloud in
      let container = try await cloud.container(of: "anna", device: "phone")
      let ben = try await container.shareParticipant(forEmailAddress: "ben@example.com")
      #expect(!ben.userIdentity.hasiCloudAccount)
      #expect(ben.acceptanceStatus == .pending)
      let nobody = CKRecord.ID(recordName: "_nobody")
      let unknown = try await container.shareParticipant(forUserRecordID: nobody)
      #expect(unknown.userIdentity.userRecordID == nobody)
      let zoneID = CKRecordZone.ID(zoneName: "Notes")
      try await container.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
      let share = CKShare(recordZoneID: zoneID)
      share.addParticipant(unknown)
      try await container.privateCloudDatabase.save(share)
      #expect(share.participants.map(\.acceptanceStatus) == [.accepted, .pending])
    }
  }
}
