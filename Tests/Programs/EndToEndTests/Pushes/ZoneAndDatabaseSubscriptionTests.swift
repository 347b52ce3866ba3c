import CloudKit
import Testing

struct ZoneAndDatabaseSubscriptionTests {
  @Test("A record-zone subscription hears of creations, updates and deletions in its zone alone")
  func recordZone() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      let notes = try await laptop.addZone("Notes")
      let drafts = try await laptop.addZone("Drafts")
      try await phone.privateCloudDatabase.save(
        CKRecordZoneSubscription(zoneID: notes, subscriptionID: "notes"))
      let record = try await laptop.add("Item", "A", zone: notes)
      try await cloud.pushes(1)
      record["n"] = 1
      try await laptop.save(record)
      try await cloud.pushes(2)
      try await laptop.deleteRecord(withID: record.recordID)
      try await laptop.add("Item", "B", zone: drafts)
      try await laptop.add("Item", "C")
      let pushes = try await cloud.settledPushes()
      #expect(pushes.count == 3)
      for push in pushes {
        let notification = push.notification as? CKRecordZoneNotification
        #expect(notification?.subscriptionID == "notes")
        #expect(notification?.recordZoneID?.zoneName == "Notes")
        #expect(notification?.databaseScope == .private)
      }
    }
  }

  @Test("A record-zone subscription with a record type hears of records of that type alone")
  func recordType() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      let notes = try await laptop.addZone("Notes")
      let subscription = CKRecordZoneSubscription(zoneID: notes, subscriptionID: "notes")
      subscription.recordType = "Item"
      try await phone.privateCloudDatabase.save(subscription)
      try await laptop.add("Thing", "A", zone: notes)
      try await laptop.add("Item", "B", zone: notes)
      let pushes = try await cloud.settledPushes()
      #expect(pushes.map(\.subscriptionID) == ["notes"])
    }
  }

  @Test("A database subscription hears of every custom zone and not of the default zone")
  func database() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      let notes = try await laptop.addZone("Notes")
      let drafts = try await laptop.addZone("Drafts")
      try await phone.privateCloudDatabase.save(
        CKDatabaseSubscription(subscriptionID: "changes"))
      try await laptop.add("Item", "A")
      try await laptop.add("Item", "B", zone: notes)
      try await cloud.pushes(1)
      try await laptop.add("Item", "C", zone: drafts)
      let pushes = try await cloud.settledPushes()
      #expect(pushes.count == 2)
      #expect(pushes.allSatisfy { $0.notification is CKDatabaseNotification })
      #expect(
        pushes.compactMap { $0.json["ck"]?["met"]?["zid"]?.string }.sorted()
          == ["Drafts", "Notes"])
    }
  }

  @Test("A database subscription hears of the making and the deletion of a zone")
  func zones() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.privateCloudDatabase.save(
        CKDatabaseSubscription(subscriptionID: "changes"))
      let notes = try await laptop.addZone("Notes")
      try await cloud.pushes(1)
      try await laptop.deleteRecordZone(withID: notes)
      let pushes = try await cloud.settledPushes()
      #expect(
        pushes.compactMap { $0.json["ck"]?["met"]?["zid"]?.string } == ["Notes", "Notes"])
    }
  }
}
