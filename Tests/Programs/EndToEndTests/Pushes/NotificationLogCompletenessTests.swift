import CloudKit
import CloudKitModel
import Testing
import Waiting

/// Tests that the log contains each notification, whatever the fate of its push.
/// `NotificationLogTests` has the test of pruned payloads.
struct NotificationLogCompletenessTests {
  @available(*, deprecated)
  @Test("where silent pushes became one while APNs was away")
  func merged() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.privateCloudDatabase.subscribe(
        where: .all, info: .init(desiredKeys: ["number"], shouldSendContentAvailable: true))
      await cloud.stopSimulator()
      let names = (0..<30).map { "item-\($0)" }
      for (number, name) in names.enumerated() {
        try await laptop.add("Item", name, ["number": number])
      }
      let store = await cloud.store
      try await eventually("one is left to send") {
        let isDispatched = try await store.outbox.undispatchedDatabases().isEmpty
        let owed = try await store.deliveries.owedDeliveryCount()
        return isDispatched && owed == 1
      }
      try await cloud.startSimulator()
      try await cloud.pushes()
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.event) == ["created item-29"])
      let metrics = await cloud.server.deliveryMetrics
      #expect(metrics.merged == 29 && metrics.expired + metrics.abandoned + metrics.refused == 0)

      let log = try await logged(phone)
      let found = log.map { $0 as? CKQueryNotification }
      #expect(found.map { $0?.recordID?.recordName } == names)
      #expect(found.map { $0?.recordFields?["number"] as? Int } == Array(0..<30))
      #expect(Set(log.map(\.notificationID)).count == 30)
      #expect(log.last?.notificationID == pushes.first?.notification?.notificationID)
    }
  }

  @available(*, deprecated)
  @Test("where pushes expired while APNs was away")
  func expired() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await phone.privateCloudDatabase.subscribe(where: .all, info: .init(alertBody: "New"))
      await cloud.stopSimulator()
      let names = (0..<5).map { "item-\($0)" }
      for name in names { try await laptop.add("Item", name) }
      let store = await cloud.store
      try await eventually("all is logged") {
        try await store.outbox.undispatchedDatabases().isEmpty
      }
      #expect(try await store.deliveries.owedDeliveryCount() == names.count)

      await cloud.stopServer()
      cloud.clock.advance(bySeconds: 25 * 3600)
      try await cloud.startSimulator()
      try await cloud.startServer()
      try await laptop.add("Item", "late")
      try await cloud.pushes()
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.event) == ["created late"])
      let metrics = await cloud.server.deliveryMetrics
      #expect(metrics.expired == names.count && metrics.abandoned + metrics.refused == 0)
      let owed = try await cloud.store.deliveries.owedDeliveryCount()
      #expect(owed == 0)

      let log = try await logged(phone)
      #expect(
        log.map { ($0 as? CKQueryNotification)?.recordID?.recordName } == names + ["late"])
      #expect(log.allSatisfy { $0.alertBody == "New" && !$0.isPruned })
    }
  }

  /// The log without the sentinels by which a test waits.
  @available(*, deprecated)
  private func logged(_ container: CKContainer) async throws -> [CKNotification] {
    try await container.fetchWholeLog(since: nil).notifications.filter {
      $0.subscriptionID == "subscription"
    }
  }
}
