import CloudKit
import CloudKitModel
import DatabaseAPI
import Testing

struct NotificationLogTests {
  @available(*, deprecated)
  @Test("What one device marks as read, the other sees as read; its ID is that of the push")
  func twoDevices() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.registeredContainer(of: "anna", device: "laptop")
      try await phone.privateCloudDatabase.subscribe(where: .all, info: .init(alertBody: "Body"))
      try await laptop.privateCloudDatabase.add("Item", "first")
      try await laptop.privateCloudDatabase.add("Item", "second")
      let seen = try await laptop.awaitLog(2)
      #expect(
        seen.notifications.map { ($0 as? CKQueryNotification)?.recordID?.recordName }
          == ["first", "second"])
      let pushed = try await cloud.pushes(2).compactMap(\.notification)
      #expect(
        Set(pushed.map(\.notificationID)) == Set(seen.notifications.map(\.notificationID)))
      let first = try #require(pushed.first?.notificationID)

      let outcome = await phone.markRead([first])
      #expect(outcome.marked == [first] && outcome.error == nil)
      let news = try await laptop.fetchLog(since: seen.token)
      #expect(news.notifications.map(\.notificationType) == [.readNotification])
      #expect(news.notifications.first?.notificationID == first)
      #expect(news.notifications.first?.subscriptionID == nil)
      #expect(news.notifications.first?.alertBody == nil)
      #expect(!news.moreComing)
      #expect(try await laptop.fetchLog(since: news.token).notifications.isEmpty)
      let all = try await phone.fetchWholeLog(since: nil, limit: 1)
      #expect(all.notifications.map(\.notificationType) == [.query, .readNotification])

      let stranger = try await cloud.container(of: "berta", device: "phone")
      let refused = await stranger.markRead([first])
      #expect(refused.marked == [] && refused.error?.code == .partialFailure)
      #expect(
        (refused.error?.partialErrorsByItemID?[first] as? CKError)?.code == .unknownItem)
    }
  }

  @available(*, deprecated)
  @Test("Pages follow each other, and an archived token goes on after a restart of the server")
  func pages() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone")
      let database = phone.privateCloudDatabase
      try await database.subscribe(where: .all)
      for number in 0..<5 { try await database.add("Item", "item-\(number)") }
      _ = try await phone.awaitLog(5)
      let first = try await phone.fetchLog(since: nil, limit: 2)
      #expect(first.notifications.count == 2 && first.moreComing)
      let archive = try NSKeyedArchiver.archivedData(
        withRootObject: try #require(first.token), requiringSecureCoding: true)
      await cloud.stopServer()
      try await cloud.startServer()
      let token = try #require(
        try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: archive))
      let again = try await cloud.container(of: "anna", device: "phone")
      let rest = try await again.fetchWholeLog(since: token, limit: 2)
      let names = (first.notifications + rest.notifications).map {
        ($0 as? CKQueryNotification)?.recordID?.recordName
      }
      #expect(names == (0..<5).map { "item-\($0)" })
    }
  }

  @available(*, deprecated)
  @Test("Log entries are whole where the push was cut")
  func whole() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop")
      try await phone.privateCloudDatabase.subscribe(
        where: .all,
        info: .init(
          alertBody: String(repeating: "b", count: 4000), desiredKeys: ["text", "when", "targets"]))
      let text = String(repeating: "t", count: 3000)
      let record = CKRecord(recordType: "Item", recordID: CKRecord.ID(recordName: "i"))
      record["text"] = text
      record["when"] = Date(timeIntervalSince1970: 1_700_000_000)
      record["targets"] = [
        CKRecord.Reference(recordID: CKRecord.ID(recordName: "other"), action: .none)
      ]
      try await laptop.privateCloudDatabase.save(record)
      let push = try #require(try await cloud.pushes().first)
      let pushed = try #require(push.notification)
      #expect(pushed.isPruned)
      let fetched = try await phone.awaitLog(1).notifications.first
      let logged = try #require(fetched as? CKQueryNotification)
      #expect(!logged.isPruned)
      #expect(logged.alertBody?.count == 4000)
      #expect(logged.recordFields?["text"] as? String == text)
      #expect(logged.recordFields?["when"] as? Date == record["when"])
      let references = logged.recordFields?["targets"] as? [CKRecord.Reference]
      #expect(references?.map(\.recordID.recordName) == ["other"])
      #expect(logged.containerIdentifier == Cloud.container)
      #expect(logged.subscriptionOwnerUserRecordID != nil)
      #expect(logged.subscriptionID == "subscription")
    }
  }

  @available(*, deprecated)
  @Test("A token from before what was trimmed is changeTokenExpired; nil begins anew")
  func expired() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone")
      try await phone.privateCloudDatabase.subscribe(where: .all)
      let early = try await phone.fetchLog(since: nil)
      try await phone.privateCloudDatabase.add("Item", "i")
      let late = try await phone.awaitLog(1)
      let store = await cloud.store
      try await store.maintenance.trim(at: Timestamp.now.advanced(bySeconds: 31 * 86_400))
      // By then the user's token has expired too.
      let user = try #require(try await store.accounts.user(named: "anna"))
      let later = await cloud.container(
        token: try await Account.makeToken(for: user, in: store.accounts, at: .now),
        device: "anna-phone")
      let error = try await #require(throws: CKError.self) {
        try await later.fetchLog(since: early.token)
      }
      #expect(error.code == .changeTokenExpired)
      #expect(try await later.fetchLog(since: late.token).notifications.isEmpty)
      #expect(try await later.fetchLog(since: nil).notifications.isEmpty)
    }
  }

  @available(*, deprecated)
  @Test("A badge that is set is what the next push of every device counts from")
  func badge() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      try await cloud.registeredContainer(of: "anna", device: "tablet")
      let laptop = try await cloud.container(of: "anna", device: "laptop")
      try await phone.privateCloudDatabase.subscribe(where: .all, info: .init(shouldBadge: true))
      try await laptop.privateCloudDatabase.add("Item", "a")
      _ = try await cloud.pushes()
      try await phone.setBadge(10)
      try await laptop.privateCloudDatabase.add("Item", "b")
      for device in ["phone", "tablet"] {
        let badges = try await cloud.pushes(2, device: device).map {
          $0.notification?.badge?.intValue
        }
        #expect(badges == [1, 11])
      }
      try await phone.setBadge(0)
      try await laptop.privateCloudDatabase.add("Item", "c")
      let last = try await cloud.pushes(3).last
      #expect(last?.notification?.badge == 1)
    }
  }
}
