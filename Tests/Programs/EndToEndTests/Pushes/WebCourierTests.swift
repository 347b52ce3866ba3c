import CloudKit
import Testing

struct WebCourierTests {
  @available(*, deprecated)
  @Test("It brings notifications of other devices' changes and none of the device's own")
  func otherDevices() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.privateCloudDatabase.subscribe(
        where: .all, info: .init(alertBody: "Body", desiredKeys: ["n"]))
      let notifications = phone.remoteNotifications()
      try await notifications.register()
      try await phone.privateCloudDatabase.add("Item", "own", ["n": 1])
      try await laptop.add("Item", "first", ["n": 2])
      try await laptop.add("Item", "second", ["n": 3])
      var arrived: [CKQueryNotification] = []
      for try await userInfo in notifications {
        arrived.append(
          try #require(
            CKNotification(fromRemoteNotificationDictionary: userInfo) as? CKQueryNotification))
        if arrived.count == 2 { break }
      }
      #expect(arrived.map(\.recordID?.recordName) == ["first", "second"])
      #expect(arrived.map { ($0.recordFields?["n"] as? NSNumber)?.intValue } == [2, 3])
      #expect(arrived.allSatisfy { $0.alertBody == "Body" && $0.subscriptionID == "subscription" })
      #expect(arrived.allSatisfy { $0.databaseScope == .private })
    }
  }

  @Test("A reader that waits while the server is away gets what comes after the restart")
  func restart() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone")
      try await phone.privateCloudDatabase.subscribe(where: .all)
      let notifications = phone.remoteNotifications()
      try await notifications.register()
      let first = Task { () -> String? in
        for try await userInfo in notifications {
          let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
          return (notification as? CKQueryNotification)?.recordID?.recordName
        }
        return nil
      }
      await cloud.stopServer()
      try await cloud.startServer()
      try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
        .add("Item", "later")
      #expect(try await first.value == "later")
    }
  }
}
