import APNsSimulation
import CloudKit
import JSONCoding
import Testing

struct PushContentTests {
  /// Subscribes Anna's phone with an info, saves a record from another device, and hands over the
  /// push.
  private func push(
    _ info: CKSubscription.NotificationInfo?,
    _ fields: [String: any CKRecordValueProtocol] = [:], in cloud: Cloud
  ) async throws -> ReceivedPush {
    let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
    let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
    try await phone.privateCloudDatabase.subscribe(where: .all, info: info)
    try await laptop.add("Item", "A", fields)
    return try await cloud.pushes()[0]
  }

  @available(*, deprecated)
  @Test("An alert has its title, subtitle, text, sound, category and flags")
  func alert() async throws {
    try await Cloud.run { cloud in
      let info = CKSubscription.NotificationInfo(
        alertBody: "Body", title: "Title", subtitle: "Subtitle", alertLaunchImage: "launch.png",
        soundName: "default", shouldSendContentAvailable: true, shouldSendMutableContent: true,
        category: "ITEM")
      let push = try await push(info, in: cloud)
      #expect(
        push.json["aps"] == [
          "alert": [
            "title": "Title", "subtitle": "Subtitle", "body": "Body",
            "launch-image": "launch.png",
          ],
          "sound": "default", "category": "ITEM", "content-available": 1, "mutable-content": 1,
        ])
      let notification = push.notification
      #expect(notification?.title == "Title")
      #expect(notification?.subtitle == "Subtitle")
      #expect(notification?.alertBody == "Body")
      #expect(notification?.soundName == "default")
      #expect(notification?.category == "ITEM")
      #expect(notification?.containerIdentifier == Cloud.container)
      #expect(notification?.isPruned == false)
    }
  }

  @available(*, deprecated)
  @Test("Localisation arguments are the values of the fields as text")
  func localization() async throws {
    try await Cloud.run { cloud in
      let info = CKSubscription.NotificationInfo(
        alertLocalizationKey: "KEY",
        alertLocalizationArgs: ["text", "whole", "real", "time", "missing"],
        titleLocalizationKey: "TITLE", titleLocalizationArgs: ["whole"],
        subtitleLocalizationKey: "SUBTITLE", subtitleLocalizationArgs: ["text"])
      let push = try await push(
        info,
        [
          "text": "Suva", "whole": 42, "real": 0.1,
          "time": Date(timeIntervalSince1970: 1_700_000_000),
        ], in: cloud)
      let notification = push.notification
      #expect(notification?.alertLocalizationKey == "KEY")
      #expect(notification?.alertBody == nil)
      let arguments = try #require(notification?.alertLocalizationArgs)
      try #require(arguments.count == 5)
      #expect(arguments[0] == "Suva" && arguments[1] == "42" && arguments[2] == "0.1")
      #expect(arguments[3].hasPrefix("2023-11-14T22:13:20") && arguments[3].hasSuffix("Z"))
      #expect(arguments[4] == "")
      #expect(notification?.titleLocalizationKey == "TITLE")
      #expect(notification?.titleLocalizationArgs == ["42"])
      #expect(notification?.subtitleLocalizationArgs == ["Suva"])
    }
  }

  @available(*, deprecated)
  @Test("The badge counts up on each device for itself")
  func badge() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
        .privateCloudDatabase
      let tablet = try await cloud.registeredContainer(of: "anna", device: "tablet")
        .privateCloudDatabase
      try await phone.subscribe(where: .all, info: .init(shouldBadge: true))
      try await tablet.add("Item", "A")
      try await phone.add("Item", "B")
      try await tablet.add("Item", "C")
      try await phone.add("Item", "D")
      try await phone.add("Item", "E")
      let byPhone = try await cloud.pushes(2)
      let byTablet = try await cloud.pushes(3, device: "tablet")
      #expect(byPhone.compactMap { $0.notification?.badge?.intValue }.sorted() == [1, 2])
      #expect(byTablet.compactMap { $0.notification?.badge?.intValue }.sorted() == [1, 2, 3])
    }
  }

  @Test("Desired keys of strings and numbers come back as values")
  func plainDesiredKeys() async throws {
    try await Cloud.run { cloud in
      let push = try await push(
        .init(desiredKeys: ["text", "whole", "real"]),
        ["text": "Suva", "whole": 42, "real": 5.5, "other": "unwanted"], in: cloud)
      let fields = try #require(push.query?.recordFields)
      #expect(Set(fields.keys) == ["text", "whole", "real"])
      #expect(fields["text"] as? String == "Suva")
      #expect((fields["whole"] as? NSNumber)?.intValue == 42)
      #expect((fields["real"] as? NSNumber)?.doubleValue == 5.5)
    }
  }

  @Test("Desired keys of dates, locations and references come back as values")
  func structuredDesiredKeys() async throws {
    try await Cloud.run { cloud in
      let push = try await push(
        .init(desiredKeys: ["time", "place", "target"]),
        [
          "time": Date(timeIntervalSince1970: 1_700_000_000.5),
          "place": CLLocation(latitude: -18.14, longitude: 178.44),
          "target": CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "other"), action: .none),
        ], in: cloud)
      let fields = try #require(push.query?.recordFields)
      #expect((fields["time"] as? NSNumber)?.doubleValue == 1_700_000_000.5)
      let place = fields["place"] as? CLLocation
      #expect(place?.coordinate.latitude == -18.14 && place?.coordinate.longitude == 178.44)
      #expect((fields["target"] as? CKRecord.Reference)?.recordID.recordName == "other")
    }
  }

  @Test("A visible push has type alert, priority 10 and a day to live")
  func visibleHeaders() async throws {
    try await Cloud.run { cloud in
      let push = try await push(
        .init(alertBody: "Body", collapseIDKey: "items"), in: cloud)
      #expect(push.headers["apns-push-type"] == "alert")
      #expect(push.headers["apns-priority"] == "10")
      #expect(push.headers["apns-topic"] == Cloud.topic)
      #expect(push.headers["apns-collapse-id"] == "items")
      let expiration = try #require(push.headers["apns-expiration"].flatMap { Double($0) })
      #expect(abs(expiration - push.time.seconds - 86_400) < 60)
    }
  }

  @Test("A push that shows nothing has type background, priority 5 and an hour to live")
  func silentHeaders() async throws {
    for info in [CKSubscription.NotificationInfo(shouldSendContentAvailable: true), nil] {
      try await Cloud.run { cloud in
        let push = try await push(info, in: cloud)
        #expect(push.headers["apns-push-type"] == "background")
        #expect(push.headers["apns-priority"] == "5")
        #expect(push.headers["apns-collapse-id"] == nil)
        #expect(push.json["aps"] == ["content-available": 1])
        let expiration = try #require(push.headers["apns-expiration"].flatMap { Double($0) })
        #expect(abs(expiration - push.time.seconds - 3600) < 60)
      }
    }
  }

  @available(*, deprecated)
  @Test("A payload that is too large is pruned for APNs and whole on the web courier")
  func pruning() async throws {
    try await Cloud.run { cloud in
      let body = String(repeating: "Körper ", count: 450)
      let info = CKSubscription.NotificationInfo(
        alertBody: body, title: String(repeating: "T", count: 900), desiredKeys: ["text"])
      let tablet = try await cloud.container(of: "anna", device: "tablet")
      let notifications = tablet.remoteNotifications()
      try await notifications.register()
      let push = try await push(info, ["text": "value"], in: cloud)
      #expect(push.payload.utf8.count <= 4096)
      let pruned = try #require(push.query)
      #expect(pruned.isPruned)
      #expect(pruned.recordFields == nil)
      #expect(pruned.subscriptionID == "subscription")
      #expect(pruned.notificationID != nil)
      let userInfo = try #require(try await notifications.first { _ in true })
      let whole = CKNotification(fromRemoteNotificationDictionary: userInfo) as? CKQueryNotification
      #expect(whole?.isPruned == false)
      #expect(whole?.alertBody == body)
      #expect(whole?.recordFields?["text"] as? String == "value")
      #expect(whole?.notificationID == pruned.notificationID)
    }
  }

  @available(*, deprecated)
  @Test("Texts are cut at 100 characters, between characters as a person sees them")
  func truncation() async throws {
    try await Cloud.run { cloud in
      let flag = "🇫🇯"
      let push = try await push(
        .init(
          alertLocalizationKey: "KEY", alertLocalizationArgs: ["text"], desiredKeys: ["text"]),
        ["text": String(repeating: flag, count: 101)], in: cloud)
      let whole = String(repeating: flag, count: 100)
      #expect(push.notification?.isPruned == true)
      #expect(push.notification?.alertLocalizationArgs == [whole])
      #expect(push.query?.recordFields?["text"] as? String == whole)
    }
  }
}
