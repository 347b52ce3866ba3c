import CloudKit
import Foundation
import Testing

struct NotificationTests {
  private func push(_ kind: String, _ contents: [String: Any]) -> [AnyHashable: Any] {
    [
      "aps": [
        "alert": [
          "body": "b", "loc-key": "lk", "loc-args": ["v"], "title": "t", "title-loc-key": "tk",
          "title-loc-args": ["tv"], "subtitle": "s", "subtitle-loc-key": "sk",
          "subtitle-loc-args": ["sv"], "action-loc-key": "a", "launch-image": "l",
        ] as [String: Any], "badge": 3, "sound": "default", "category": "c",
      ] as [String: Any],
      "ck": [
        "cid": "iCloud.com.example.app", "nid": "n-1", "ckuserid": "_user", kind: contents,
      ] as [String: Any],
    ]
  }

  @Test("A push becomes a notification of the class for its kind")
  func classes() throws {
    let userInfo = push(
      "qry",
      [
        "sid": "s", "fo": 1, "rid": "r", "zid": "Work", "zoid": "_owner", "dbs": 1,
        "af": ["title": "Hello"],
      ])
    let notification = try #require(
      CKNotification(fromRemoteNotificationDictionary: userInfo) as? CKQueryNotification)
    #expect(notification.notificationType == .query)
    #expect(notification.queryNotificationReason == .recordCreated)
    #expect(notification.recordFields?["title"] as? String == "Hello")
    #expect(notification.recordID?.recordName == "r")
    #expect(notification.databaseScope == .public || notification.databaseScope == .private)
    #expect(notification.containerIdentifier == "iCloud.com.example.app")
    #expect(notification.subscriptionID == "s" && !notification.isPruned)
    #expect(notification.subscriptionOwnerUserRecordID?.recordName == "_user")
    #expect(notification.notificationID != nil)
    #expect(CKQueryNotification(fromRemoteNotificationDictionary: userInfo) != nil)
    #expect(CKRecordZoneNotification(fromRemoteNotificationDictionary: userInfo) == nil)

    let zone = CKNotification(
      fromRemoteNotificationDictionary: push(
        "fet", ["sid": "z", "zid": "Work", "zoid": "_owner", "dbs": 3]))
    #expect((zone as? CKRecordZoneNotification)?.recordZoneID?.zoneName == "Work")
    #expect((zone as? CKRecordZoneNotification)?.databaseScope != nil)
    let database = CKNotification(
      fromRemoteNotificationDictionary: push("met", ["sid": "d", "dbs": 1]))
    #expect((database as? CKDatabaseNotification)?.databaseScope == .private)
    #expect(CKNotification(fromRemoteNotificationDictionary: ["aps": ["badge": 1]]) == nil)
  }

  @Test("The same entry has an ID that is equal, also after an archive")
  func identifiers() throws {
    let contents: [String: Any] = ["sid": "d"]
    let one = CKNotification(fromRemoteNotificationDictionary: push("met", contents))
    let other = CKNotification(fromRemoteNotificationDictionary: push("met", contents))
    let id: CKNotification.ID = try #require(one?.notificationID)
    #expect(id == other?.notificationID)
    let data = try NSKeyedArchiver.archivedData(withRootObject: id, requiringSecureCoding: true)
    let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKNotification.ID.self, from: data)
    #expect(back == id)
    #expect(id.copy() as? CKNotification.ID == id)
  }

  @available(*, deprecated)
  @Test("What the user sees can still be read")
  func alert() throws {
    let notification = try #require(
      CKNotification(fromRemoteNotificationDictionary: push("met", [:])))
    #expect(notification.alertBody == "b" && notification.title == "t")
    #expect(notification.alertLocalizationKey == "lk" && notification.subtitle == "s")
    #expect(notification.alertLocalizationArgs == ["v"])
    #expect(notification.titleLocalizationKey == "tk")
    #expect(notification.titleLocalizationArgs == ["tv"])
    #expect(notification.subtitleLocalizationKey == "sk")
    #expect(notification.subtitleLocalizationArgs == ["sv"])
    #expect(notification.alertActionLocalizationKey == "a")
    #expect(notification.alertLaunchImage == "l" && notification.soundName == "default")
    #expect(notification.category == "c" && notification.badge == 3)
    let query = CKQueryNotification(
      fromRemoteNotificationDictionary: push("qry", ["sid": "s", "fo": 3]))
    #expect(query?.isPublicDatabase == false)
    #expect(query?.queryNotificationReason == .recordDeleted)
  }

  @Test("Kinds, reasons and scopes have Apple's numbers")
  func rawValues() {
    let types: [CKNotification.NotificationType] = [
      .query, .recordZone, .readNotification, .database,
    ]
    #expect(types.map(\.rawValue) == [1, 2, 3, 4])
    let reasons: [CKQueryNotification.Reason] = [.recordCreated, .recordUpdated, .recordDeleted]
    #expect(reasons.map(\.rawValue) == [1, 2, 3])
    let scopes: [CKDatabase.Scope] = [.public, .private, .shared]
    #expect(scopes.map(\.rawValue) == [1, 2, 3])
  }

  @available(*, deprecated)
  @Test("The operations of the notification log take what apps give them")
  func log() {
    let fetch = CKFetchNotificationChangesOperation(previousServerChangeToken: nil)
    #expect(fetch.previousServerChangeToken == nil && !fetch.moreComing)
    fetch.resultsLimit = 10
    fetch.notificationChangedBlock = { _ in }
    fetch.fetchNotificationChangesCompletionBlock = { _, _ in }
    #expect(fetch.resultsLimit == 10 && fetch.notificationChangedBlock != nil)
    #expect(fetch.fetchNotificationChangesCompletionBlock != nil)
    #expect(CKFetchNotificationChangesOperation().previousServerChangeToken == nil)

    let mark = CKMarkNotificationsReadOperation(notificationIDsToMarkRead: [])
    mark.markNotificationsReadCompletionBlock = { _, _ in }
    #expect(mark.notificationIDs == [] && mark.markNotificationsReadCompletionBlock != nil)
    #expect(CKMarkNotificationsReadOperation().notificationIDs == nil)

    let badge = CKModifyBadgeOperation(badgeValue: 4)
    badge.modifyBadgeCompletionBlock = { _ in }
    #expect(badge.badgeValue == 4 && badge.modifyBadgeCompletionBlock != nil)
    #expect(CKModifyBadgeOperation().badgeValue == 0)
  }
}
