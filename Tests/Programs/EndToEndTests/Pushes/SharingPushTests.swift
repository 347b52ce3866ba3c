import APNsSimulation
import CloudKit
import JSONCoding
import StoreModel
import Testing

/// The pushes of changes in a shared list, as devices get them.
struct SharingPushTests {
  /// Anna, who shares a list with Ben, each with two devices and a database subscription.
  private struct Stage {
    let cloud: Cloud
    let anna: CKContainer
    let ben: CKContainer
    let zoneID = CKRecordZone.ID(zoneName: "Lists")
    let list: CKRecord
    let url: URL

    init(_ cloud: Cloud) async throws {
      self.cloud = cloud
      try await cloud.addUser(
        named: "ben",
        profile: UserProfile(
          emailAddress: "ben@example.com", phoneNumber: nil, nameComponents: nil))
      anna = try await cloud.registeredContainer(of: "anna", device: "phone")
      ben = try await cloud.registeredContainer(of: "ben", device: "phone")
      for user in ["anna", "ben"] {
        try await cloud.registeredContainer(of: user, device: "pad")
      }
      let subscription = CKDatabaseSubscription(subscriptionID: "changes")
      let info = CKSubscription.NotificationInfo()
      info.shouldSendContentAvailable = true
      subscription.notificationInfo = info
      try await ben.sharedCloudDatabase.save(subscription)
      try await anna.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
      list = CKRecord(
        recordType: "List", recordID: CKRecord.ID(recordName: "list", zoneID: zoneID))
      let share = CKShare(rootRecord: list)
      let participant = try await anna.shareParticipant(forEmailAddress: "ben@example.com")
      participant.permission = .readWrite
      share.addParticipant(participant)
      let saved = try await anna.privateCloudDatabase.modifyRecords(
        saving: [list, share], deleting: [])
      url = try #require((try saved.saveResults[share.recordID]?.get() as? CKShare)?.url)
      try await anna.privateCloudDatabase.save(subscription)
    }

    /// The devices that have got pushes since the last call.
    func receivers(after seen: inout Int) async throws -> [String] {
      let pushes = try await cloud.settledPushes()
      defer { seen = pushes.count }
      return pushes.dropFirst(seen).map { push in
        for user in ["anna", "ben"] {
          for device in ["phone", "pad"]
          where push.deviceToken == Cloud.deviceTokenText(of: user, device: device) {
            return "\(user) \(device)"
          }
        }
        return push.deviceToken ?? "?"
      }.sorted()
    }
  }

  @Test("Each change in a shared list is pushed to all devices but the one that made it")
  func receivers() async throws {
    try await Cloud.run { cloud in
      let stage = try await Stage(cloud)
      var seen = 0
      #expect(try await stage.receivers(after: &seen) == [])
      let share = try await stage.ben.accept(try await stage.ben.shareMetadata(for: stage.url))
      // The zone appeared, and Anna's share has another participant.
      #expect(try await stage.receivers(after: &seen) == ["anna pad", "anna phone", "ben pad"])

      let list = try await stage.ben.sharedCloudDatabase.record(
        for: CKRecord.ID(recordName: "list", zoneID: share.recordID.zoneID))
      let item = CKRecord(
        recordType: "Item",
        recordID: CKRecord.ID(recordName: "milk", zoneID: share.recordID.zoneID))
      item.setParent(list)
      try await stage.ben.sharedCloudDatabase.save(item)
      #expect(try await stage.receivers(after: &seen) == ["anna pad", "anna phone", "ben pad"])

      let own = try await stage.anna.privateCloudDatabase.record(
        for: CKRecord.ID(recordName: "milk", zoneID: stage.zoneID))
      own["count"] = 2
      try await stage.anna.privateCloudDatabase.save(own)
      #expect(try await stage.receivers(after: &seen) == ["anna pad", "ben pad", "ben phone"])

      // A record beside the list is Anna's alone.
      try await stage.anna.privateCloudDatabase.add("Item", "own", zone: stage.zoneID)
      #expect(try await stage.receivers(after: &seen) == ["anna pad"])

      let present = try #require(
        try await stage.anna.privateCloudDatabase.record(
          for: CKRecord.ID(recordName: share.recordID.recordName, zoneID: stage.zoneID))
          as? CKShare)
      present.removeParticipant(
        try #require(present.participants.first { $0.role == .privateUser }))
      try await stage.anna.privateCloudDatabase.save(present)
      #expect(try await stage.receivers(after: &seen) == ["anna pad", "ben pad", "ben phone"])
      own["count"] = 3
      try await stage.anna.privateCloudDatabase.modifyRecords(
        saving: [own], deleting: [], savePolicy: .allKeys)
      #expect(try await stage.receivers(after: &seen) == ["anna pad"])
    }
  }

  @Test("A push of a shared list names the zone with its owner, and nothing of the record")
  func payload() async throws {
    try await Cloud.run { cloud in
      let stage = try await Stage(cloud)
      _ = try await stage.ben.accept(try await stage.ben.shareMetadata(for: stage.url))
      stage.list["title"] = "Groceries"
      try await stage.anna.privateCloudDatabase.modifyRecords(
        saving: [stage.list], deleting: [], savePolicy: .allKeys)
      let push = try #require(try await cloud.pushes(1, to: "ben", device: "phone").first)
      let notification = try #require(push.notification as? CKDatabaseNotification)
      #expect(notification.databaseScope == .shared && notification.subscriptionID == "changes")
      let ck = push.json["ck"]
      #expect(ck?["met"]?["dbs"]?.int == 3 && ck?["met"]?["zid"]?.string == "Lists")
      #expect(ck?["met"]?["zoid"]?.string == (try await stage.anna.userRecordID()).recordName)
      #expect(ck?["ckuserid"]?.string == (try await stage.ben.userRecordID()).recordName)
      #expect(!push.payload.contains("Groceries") && !push.payload.contains("\"list\""))
    }
  }
}
