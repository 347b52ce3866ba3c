import CloudKit
import Foundation
import PetrelTesting
import Testing

/// Subscriptions as code of iOS 8 and 9 makes them.
struct FirstInterfaceTests {
  private static let notes = CKRecordZone(zoneName: "Notes")

  private static func note(stars: Int) -> CKRecord {
    let record = CKRecord(
      recordType: "Note", recordID: CKRecord.ID(recordName: UUID().uuidString, zoneID: notes.zoneID)
    )
    record["stars"] = stars
    return record
  }

  @available(*, deprecated)
  @Test("a subscription to a query is saved, fires, and is fetched as the class that came after")
  func query() async throws {
    let cloud = try await TestCloud()
    let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    try await phone.save(Self.notes)
    let subscription = CKSubscription(
      recordType: "Note", predicate: NSPredicate(format: "stars > 3"), subscriptionID: "good",
      options: [.firesOnRecordCreation, .firesOnRecordDeletion])
    subscription.zoneID = Self.notes.zoneID
    let info = CKNotificationInfo()
    info.alertBody = "A good note"
    subscription.notificationInfo = info
    let saved = try await tablet.save(subscription)
    #expect(saved.subscriptionID == "good")

    let fetched = try await tablet.subscription(for: "good")
    #expect(fetched is CKQuerySubscription)
    for one in [subscription, fetched] {
      #expect(one.subscriptionType == .query)
      #expect(one.recordType == "Note")
      #expect(one.predicate?.predicateFormat == "stars > 3")
      #expect(one.zoneID == Self.notes.zoneID)
      #expect(one.subscriptionOptions == [.firesOnRecordCreation, .firesOnRecordDeletion])
      #expect(one.notificationInfo?.alertBody == "A good note")
    }

    try await phone.save(Self.note(stars: 3))
    try await phone.save(Self.note(stars: 4))
    let notification = try #require(await cloud.settledPushes().first?.notification)
    #expect(notification.subscriptionID == "good" && notification.alertBody == "A good note")
    #expect(await cloud.settledPushes().count == 1)
  }

  @available(*, deprecated)
  @Test("a subscription to a zone is saved, fires, and is fetched as the class that came after")
  func zone() async throws {
    let cloud = try await TestCloud()
    let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    try await phone.save(Self.notes)
    let subscription = CKSubscription(
      zoneID: Self.notes.zoneID, subscriptionID: "notes",
      options: CKSubscriptionOptions(rawValue: 0))
    try await tablet.save(subscription)

    let fetched = try await tablet.subscription(for: "notes")
    #expect(fetched is CKRecordZoneSubscription)
    for one in [subscription, fetched] {
      #expect(one.subscriptionType == .recordZone)
      #expect(one.zoneID == Self.notes.zoneID)
      #expect(one.recordType == nil && one.predicate == nil && one.subscriptionOptions == [])
    }

    try await phone.save(Self.note(stars: 1))
    let push = try #require(await cloud.settledPushes().first)
    #expect(push.notification is CKRecordZoneNotification)
    #expect(push.notification?.subscriptionID == "notes")
  }

  @available(*, deprecated)
  @Test("subscriptions made without an ID get one each")
  func withoutID() {
    let ids = [
      CKSubscription(
        recordType: "Note", predicate: NSPredicate(value: true), options: .firesOnRecordUpdate),
      CKSubscription(zoneID: Self.notes.zoneID, options: []),
    ].map(\.subscriptionID)
    #expect(ids.allSatisfy { UUID(uuidString: $0) != nil })
    #expect(ids[0] != ids[1])
  }
}
