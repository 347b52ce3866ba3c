import CloudKit
import Foundation
import PetrelTesting
import Testing

struct PushTests {
  @Test("each device of those who subscribed gets a push, but not the one that made the change")
  func receivers() async throws {
    let cloud = try await TestCloud()
    let phone = cloud.container(user: "anna", device: "iphone").publicCloudDatabase
    let tablet = cloud.container(user: "anna", device: "ipad").publicCloudDatabase
    let other = cloud.container(user: "ben", device: "iphone").publicCloudDatabase
    try await tablet.save(CloudTests.subscription)
    try await other.save(CloudTests.subscription)
    try await phone.save(CKRecord(recordType: "Note"))
    #expect(Self.receivers(await cloud.settledPushes()) == ["anna ipad", "ben iphone"])
    try await other.save(CKRecord(recordType: "Note"))
    let all = Self.receivers(await cloud.settledPushes())
    #expect(all == ["anna ipad", "anna ipad", "anna iphone", "ben iphone"])
    #expect(await cloud.pushes(to: "anna").count == 3)
    #expect(await cloud.pushes(to: "anna", device: "iphone").count == 1)
    #expect(await cloud.pushes(to: "nobody").isEmpty)
  }

  @Test("a device gets the pushes for what is saved after it was named, whatever it did itself")
  func silentDevice() async throws {
    let cloud = try await TestCloud()
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    try await phone.save(CloudTests.subscription)
    try await phone.save(CKRecord(recordType: "Note"))
    _ = cloud.container(user: "anna", device: "ipad")
    #expect(await cloud.settledPushes().isEmpty)
    try await phone.save(CKRecord(recordType: "Note"))
    #expect(Self.receivers(await cloud.settledPushes()) == ["anna ipad"])
  }

  @Test("a device that is not registered gets none, until it is")
  func unregistered() async throws {
    let cloud = try await TestCloud()
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    let tablet = cloud.container(user: "anna", device: "ipad", registersForPushes: false)
    try await phone.save(CloudTests.subscription)
    try await phone.save(CKRecord(recordType: "Note"))
    #expect(await cloud.settledPushes().isEmpty)
    try await tablet.registerForRemoteNotifications(deviceToken: Data(repeating: 7, count: 32))
    try await phone.save(CKRecord(recordType: "Note"))
    #expect(Self.receivers(await cloud.settledPushes()) == ["anna ipad"])
  }

  @Test("a push says what APNs would be told")
  func contents() async throws {
    let cloud = try await TestCloud()
    let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    let visible = CKQuerySubscription(
      recordType: "Note", predicate: NSPredicate(format: "stars > 3"), subscriptionID: "good",
      options: .firesOnRecordCreation)
    let info = CKSubscription.NotificationInfo()
    info.alertBody = "A good note"
    info.desiredKeys = ["title"]
    info.collapseIDKey = "notes"
    info.shouldBadge = true
    visible.notificationInfo = info
    let silent = CKDatabaseSubscription(subscriptionID: "all")
    let silentInfo = CKSubscription.NotificationInfo()
    silentInfo.shouldSendContentAvailable = true
    silent.notificationInfo = silentInfo
    try await tablet.save(visible)
    try await tablet.save(silent)
    let zone = CKRecordZone(zoneName: "Notes")
    try await phone.save(zone)
    let recordID = CKRecord.ID(recordName: "n", zoneID: zone.zoneID)
    let record = CKRecord(recordType: "Note", recordID: recordID)
    record["title"] = "Milk"
    record["stars"] = 5
    try await phone.save(record)

    let pushes = await cloud.pushes(to: "anna", device: "ipad")
    let alert = try #require(pushes.first { $0.notification?.subscriptionID == "good" })
    #expect(alert.kind == .alert && alert.priority == 10 && alert.collapseID == "notes")
    #expect(alert.containerIdentifier == "iCloud.org.example.tests")
    #expect(alert.topic == "org.example.tests")
    #expect(alert.expiration == cloud.clock.now.addingTimeInterval(86_400))
    let notification = try #require(alert.notification as? CKQueryNotification)
    #expect(notification.recordID == recordID)
    #expect(notification.queryNotificationReason == .recordCreated)
    #expect(notification.recordFields?["title"] as? String == "Milk")
    #expect(!notification.isPruned)
    let aps = try #require(alert.userInfo["aps"] as? [String: Any])
    #expect(aps["badge"] as? Int == 1)
    #expect(
      (aps["alert"] as? String) ?? (aps["alert"] as? [String: Any])?["body"] as? String
        == "A good note")

    let background = try #require(pushes.last { $0.notification?.subscriptionID == "all" })
    #expect(background.kind == .background && background.priority == 5)
    #expect(background.collapseID == nil)
    #expect(background.notification is CKDatabaseNotification)
    #expect(Set(pushes.map(\.id)).count == pushes.count)
  }

  @Test("records that go with the one they refer to push as if each was deleted by itself")
  func cascades() async throws {
    let cloud = try await TestCloud()
    let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    let zone = CKRecordZone(zoneName: "Notes")
    try await phone.save(zone)
    func record(_ name: String, of parent: CKRecord? = nil, stars: Int = 0) -> CKRecord {
      let recordID = CKRecord.ID(recordName: name, zoneID: zone.zoneID)
      let record = CKRecord(recordType: parent == nil ? "Book" : "Note", recordID: recordID)
      record["stars"] = stars
      record["parent_"] = parent.map { CKRecord.Reference(record: $0, action: .deleteSelf) }
      return record
    }
    let book = record("book")
    let chapter = record("chapter", of: book, stars: 5)
    let line = record("line", of: chapter, stars: 5)
    let dull = record("dull", of: chapter, stars: 1)
    for record in [book, chapter, line, dull] { try await phone.save(record) }
    let good = CKQuerySubscription(
      recordType: "Note", predicate: NSPredicate(format: "stars > 3"), subscriptionID: "good",
      options: .firesOnRecordDeletion)
    let info = CKSubscription.NotificationInfo(alertBody: "A good note is gone")
    good.notificationInfo = info
    let all = CKRecordZoneSubscription(zoneID: zone.zoneID, subscriptionID: "all")
    all.notificationInfo = info
    for subscription in [good, all] { try await tablet.save(subscription) }

    try await phone.deleteRecord(withID: book.recordID)
    let notifications = await cloud.settledPushes().compactMap(\.notification)
    let deleted = notifications.compactMap { $0 as? CKQueryNotification }
    #expect(deleted.allSatisfy { $0.queryNotificationReason == .recordDeleted })
    #expect(deleted.compactMap(\.recordID?.recordName).sorted() == ["chapter", "line"])
    #expect(notifications.count { $0 is CKRecordZoneNotification } == 4)
  }

  @Test("a payload that is too long is pruned as for APNs")
  func pruned() async throws {
    let cloud = try await TestCloud()
    let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase
    let subscription = CloudTests.subscription
    subscription.notificationInfo?.alertBody = String(repeating: "long ", count: 800)
    try await tablet.save(subscription)
    try await cloud.container(user: "anna", device: "iphone").privateCloudDatabase
      .save(CKRecord(recordType: "Note"))
    let push = try #require(await cloud.settledPushes().first)
    #expect(push.payload.count <= 4096)
    #expect(push.notification?.isPruned == true)
  }

  @Test("settling comes back at once when nothing was changed, and when nothing fires")
  func settlesWithoutPushes() async throws {
    let cloud = try await TestCloud()
    await cloud.settle()
    let database = cloud.container(user: "anna").privateCloudDatabase
    try await database.save(CKRecord(recordType: "Note"))
    await cloud.settle()
    #expect(await cloud.settledPushes().isEmpty)
  }

  @Test("settling waits for all that a batch has set off")
  func settlesBatch() async throws {
    let cloud = try await TestCloud()
    let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    try await tablet.save(CloudTests.subscription)
    let records = (0..<20).map {
      CKRecord(recordType: "Note", recordID: .init(recordName: "\($0)"))
    }
    await withCheckedContinuation { continuation in
      let operation = CKModifyRecordsOperation(recordsToSave: records)
      operation.qualityOfService = .userInitiated
      operation.modifyRecordsResultBlock = { _ in continuation.resume() }
      phone.add(operation)
    }
    #expect(await cloud.pushes(to: "anna", device: "ipad").count == 20)
  }

  @Test("the sequence begins with the first push for each reader and ends with the cloud")
  func sequence() async throws {
    let cloud = try await TestCloud()
    let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    try await tablet.save(CloudTests.subscription)
    async let early = Self.names(of: cloud.pushes)
    for name in ["a", "b", "c"] {
      try await phone.save(
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name)))
    }
    let second = try #require(
      await cloud.pushes.dropFirst().first { $0.device == "ipad" })
    #expect((second.notification as? CKQueryNotification)?.recordID?.recordName == "b")
    await cloud.settle()
    async let late = Self.names(of: cloud.pushes)
    await cloud.stop()
    #expect(await early == ["a", "b", "c"])
    #expect(await late == ["a", "b", "c"])
  }

  @Test("a reader whose task is cancelled stops")
  func cancelledReader() async throws {
    let cloud = try await TestCloud()
    let task = Task {
      for await _ in cloud.pushes {}
      return true
    }
    task.cancel()
    #expect(await task.value)
  }

  @Test("the newest pushes are kept up to the limit")
  func limit() async throws {
    var configuration = TestCloud.Configuration()
    configuration.pushLimit = 3
    let cloud = try await TestCloud(configuration: configuration)
    let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    try await tablet.save(CloudTests.subscription)
    for number in 1...5 {
      try await phone.save(
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "\(number)")))
      await cloud.settle()
    }
    let names = await cloud.settledPushes().map {
      ($0.notification as? CKQueryNotification)?.recordID?.recordName
    }
    #expect(names == ["3", "4", "5"])
    let first = await cloud.pushes.first { _ in true }
    #expect((first?.notification as? CKQueryNotification)?.recordID?.recordName == "3")
  }

  @Test("remoteNotifications() works without sockets")
  func courier() async throws {
    let cloud = try await TestCloud()
    let tablet = cloud.container(user: "anna", device: "ipad", registersForPushes: false)
    let notifications = tablet.remoteNotifications()
    try await notifications.register()
    try await tablet.privateCloudDatabase.save(CloudTests.subscription)
    async let first = notifications.first { _ in true }
    try await cloud.container(user: "anna", device: "iphone").privateCloudDatabase
      .save(CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n")))
    let userInfo = try #require(try await first)
    let notification = CKQueryNotification(fromRemoteNotificationDictionary: userInfo)
    #expect(notification?.recordID?.recordName == "n")
    #expect(await cloud.settledPushes().isEmpty)
  }

  private static func names(of pushes: TestPushes) async -> [String] {
    var names: [String] = []
    for await push in pushes {
      names.append((push.notification as? CKQueryNotification)?.recordID?.recordName ?? "")
    }
    return names
  }

  private static func receivers(_ pushes: [TestPush]) -> [String] {
    pushes.map { "\($0.user) \($0.device)" }.sorted()
  }
}
