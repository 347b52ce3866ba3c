import CloudKit
import Foundation
import Testing

struct SubscriptionTests {
  private let all = NSPredicate(value: true)

  @available(*, deprecated)
  @Test("A query subscription has what it was made with, and defaults for the rest")
  func querySubscription() {
    let subscription = CKQuerySubscription(
      recordType: "Note", predicate: all, subscriptionID: "notes")
    let type: CKSubscription.SubscriptionType = subscription.subscriptionType
    let id: CKSubscription.ID = subscription.subscriptionID
    #expect(type == .query && id == "notes")
    #expect(subscription.recordType == "Note")
    #expect(subscription.predicate.predicateFormat == "TRUEPREDICATE")
    #expect(
      subscription.querySubscriptionOptions == [
        .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
      ])
    #expect(subscription.notificationInfo == nil && subscription.zoneID == nil)

    let once = CKQuerySubscription(
      recordType: "Note", predicate: NSPredicate(format: "done == %d", 0), subscriptionID: "open",
      options: [.firesOnRecordCreation, .firesOnce])
    once.zoneID = CKRecordZone.ID(zoneName: "Work")
    #expect(once.zoneID?.zoneName == "Work")
    #expect(once.querySubscriptionOptions.rawValue == 9)
    #expect(CKQuerySubscription.Options(rawValue: 2) == .firesOnRecordUpdate)
    #expect(CKQuerySubscription.Options(rawValue: 4) == .firesOnRecordDeletion)
  }

  @Test("Zone and database subscriptions may be for one record type")
  func zoneAndDatabaseSubscriptions() {
    let zoneID = CKRecordZone.ID(zoneName: "Work", ownerName: CKCurrentUserDefaultName)
    let zone = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "work")
    #expect(zone.zoneID == zoneID && zone.recordType == nil)
    zone.recordType = "Note"
    #expect(zone.recordType == "Note" && zone.subscriptionType == .recordZone)

    let database = CKDatabaseSubscription(subscriptionID: "everything")
    #expect(database.recordType == nil && database.subscriptionType == .database)
    database.recordType = "Note"
    #expect(database.recordType == "Note")
  }

  @available(*, deprecated)
  @Test("The initializers without an ID make one")
  func initializersWithoutID() {
    let ids = [
      CKQuerySubscription(recordType: "Note", predicate: all, options: .firesOnRecordCreation),
      CKQuerySubscription(recordType: "Note", predicate: all),
      CKRecordZoneSubscription(zoneID: CKRecordZone.ID(zoneName: "Work")),
      CKDatabaseSubscription(),
    ].map(\.subscriptionID)
    #expect(ids.allSatisfy { UUID(uuidString: $0) != nil })
    #expect(Set(ids).count == ids.count)
  }

  @Test(
    "One of two kinds can be chosen and given an info through the common class",
    arguments: [
      true, false,
    ])
  func choice(isPrivate: Bool) {
    let subscription =
      isPrivate
      ? CKRecordZoneSubscription(zoneID: .init(zoneName: "Work"), subscriptionID: "s")
      : CKDatabaseSubscription(subscriptionID: "s")
    let info = CKSubscription.NotificationInfo()
    info.shouldSendContentAvailable = true
    subscription.notificationInfo = info
    info.shouldSendContentAvailable = false
    #expect(subscription.notificationInfo?.shouldSendContentAvailable == true)
  }

  @Test("The kinds of subscription have Apple's numbers")
  func rawValues() {
    #expect(CKSubscription.SubscriptionType(rawValue: 1) == .query)
    #expect(CKSubscription.SubscriptionType(rawValue: 2) == .recordZone)
    #expect(CKSubscription.SubscriptionType(rawValue: 3) == .database)
  }

  @available(*, deprecated)
  @Test("Copies and archives hold the same")
  func copiesAndArchives() throws {
    let subscription = CKQuerySubscription(
      recordType: "Note", predicate: NSPredicate(format: "title BEGINSWITH %@", "A"),
      subscriptionID: "a", options: .firesOnRecordUpdate)
    subscription.notificationInfo = .init(alertBody: "Changed")
    let copy = try #require(subscription.copy() as? CKQuerySubscription)
    #expect(CKSubscription.supportsSecureCoding)
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: subscription, requiringSecureCoding: true)
    let back = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuerySubscription.self, from: data))
    for other in [copy, back] {
      #expect(other !== subscription && other.subscriptionID == "a")
      #expect(other.predicate.predicateFormat == subscription.predicate.predicateFormat)
      #expect(other.notificationInfo?.alertBody == "Changed")
      #expect(other.querySubscriptionOptions == .firesOnRecordUpdate)
    }
  }
}

struct NotificationInfoTests {
  @Test("An info has nothing set")
  func defaults() {
    let info = CKSubscription.NotificationInfo()
    let texts = [
      info.alertBody, info.alertLocalizationKey, info.title, info.titleLocalizationKey,
      info.subtitle, info.subtitleLocalizationKey, info.alertActionLocalizationKey,
      info.alertLaunchImage, info.soundName, info.category, info.collapseIDKey,
    ]
    #expect(texts.allSatisfy { $0 == nil })
    let lists = [
      info.alertLocalizationArgs, info.titleLocalizationArgs, info.subtitleLocalizationArgs,
      info.desiredKeys,
    ]
    #expect(lists.allSatisfy { $0 == nil })
    #expect(!info.shouldBadge && !info.shouldSendContentAvailable)
    #expect(!info.shouldSendMutableContent)
  }

  @Test("The long initializer sets what it is given")
  func initializer() {
    let info = CKSubscription.NotificationInfo(
      alertBody: "b", alertLocalizationKey: "k", alertLocalizationArgs: ["f"], title: "t",
      titleLocalizationKey: "tk", titleLocalizationArgs: ["tf"], subtitle: "s",
      subtitleLocalizationKey: "sk", subtitleLocalizationArgs: ["sf"],
      alertActionLocalizationKey: "a", alertLaunchImage: "l", soundName: "default",
      desiredKeys: ["d"], shouldBadge: true, shouldSendContentAvailable: true,
      shouldSendMutableContent: true, category: "c", collapseIDKey: "i")
    #expect(info.alertBody == "b" && info.title == "t" && info.subtitle == "s")
    #expect(info.alertLocalizationKey == "k" && info.alertLocalizationArgs == ["f"])
    #expect(info.titleLocalizationKey == "tk" && info.titleLocalizationArgs == ["tf"])
    #expect(info.subtitleLocalizationKey == "sk" && info.subtitleLocalizationArgs == ["sf"])
    #expect(info.alertActionLocalizationKey == "a" && info.alertLaunchImage == "l")
    #expect(info.soundName == "default" && info.desiredKeys == ["d"])
    #expect(info.shouldBadge && info.shouldSendContentAvailable && info.shouldSendMutableContent)
    #expect(info.category == "c" && info.collapseIDKey == "i")
    #expect((info.copy() as? CKSubscription.NotificationInfo)?.title == "t")
  }

  @Test("A text with a field's value is a key and the field's name")
  func localizedAlert() {
    let info = CKSubscription.NotificationInfo()
    info.alertLocalizationKey = "%1$@"
    info.alertLocalizationArgs = ["title"]
    info.titleLocalizationKey = "NEW_%@"
    info.titleLocalizationArgs = ["kind"]
    info.subtitleLocalizationKey = "FROM_%@"
    info.subtitleLocalizationArgs = ["author"]
    info.alertBody = nil
    info.title = "New"
    info.subtitle = "Note"
    info.alertActionLocalizationKey = "OPEN"
    info.alertLaunchImage = "start.png"
    info.shouldBadge = true
    info.shouldSendMutableContent = true
    info.soundName = "default"
    info.category = "note"
    info.collapseIDKey = "title"
    info.desiredKeys = ["title", "author", "kind", "date", "place"]
    #expect(info.desiredKeys?.count == 5 && info.alertLocalizationArgs == ["title"])
    #expect(info.collapseIDKey == "title" && info.subtitleLocalizationArgs == ["author"])
  }
}
