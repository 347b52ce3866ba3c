import CloudKit
import PetrelTesting
import PropertyTesting
import SyncDevices
import Synchronization
import Testing
import Waiting

/// Sync engines that work by themselves.
struct AutomaticSyncTests {
  private let cloud: TestCloud

  init() async throws { cloud = try await TestCloud() }

  private func device(_ name: String, user: String = "anna") -> SyncDevice {
    SyncDevice(cloud.container(user: user, device: name).privateCloudDatabase)
  }

  @Test("two devices see each other's changes without a line that polls")
  func twoDevices() async throws {
    let (phone, tablet) = (device("phone"), device("tablet"))
    for device in [phone, tablet] { device.start(automatically: true) }
    phone.edit(["a": "1"])
    try await eventually("the tablet has the record") { tablet.titles == ["a": "1"] }
    tablet.edit(["a": "2", "b": "3"])
    try await eventually("the phone has both") { phone.titles == ["a": "2", "b": "3"] }
    phone.delete("b")
    try await eventually("the tablet has one") { tablet.titles == ["a": "2"] }
    let reasons = phone.events.compactMap { event -> CKSyncEngine.SyncReason? in
      switch event {
      case .willSendChanges(let event): event.context.reason
      case .willFetchChanges(let event): event.context.reason
      default: nil
      }
    }
    #expect(Set(reasons) == [.scheduled])
    #expect(phone.state.withLock { $0.mostCalls } == 1)
  }

  @Test("a subscription that exists is used; two starts make one")
  func subscriptions() async throws {
    let phone = device("phone")
    let database = phone.database
    phone.start(automatically: true)
    try await eventually("the subscription is saved") {
      try await database.allSubscriptions().map(\.subscriptionID) == ["CKSyncEngine-private"]
    }
    let tablet = device("tablet")
    tablet.start(automatically: true)
    try await eventually("the tablet has fetched") {
      tablet.eventNames.contains("didFetchChanges")
    }
    #expect(try await database.allSubscriptions().count == 1)
    let named = device("named")
    named.start(automatically: true, subscriptionID: "mine")
    try await eventually("the other has fetched") { named.eventNames.contains("didFetchChanges") }
    #expect(
      try await database.allSubscriptions().map(\.subscriptionID).sorted() == [
        "CKSyncEngine-private", "mine",
      ])
  }

  @Test("what failed for a while is sent later, without a call")
  func retry() async throws {
    let (phone, tablet) = (device("phone"), device("tablet"))
    cloud.fail(
      next: .serviceUnavailable(retryAfter: 0.2), device: "phone", operation: .modifyRecords)
    cloud.fail(next: .networkLoss, device: "phone", operation: .fetchUser)
    for device in [phone, tablet] { device.start(automatically: true) }
    phone.edit(["a": "1"])
    try await eventually("the tablet has the record") { tablet.titles == ["a": "1"] }
    #expect(cloud.waitingFaults == 0)
  }

  @Test("a push that the app passes on makes the engine fetch, one of another database does not")
  func passedPushes() async throws {
    let phone = device("phone")
    phone.start(automatically: true)
    try await eventually("the first fetch has ended") {
      phone.eventNames.contains("didFetchChanges")
    }
    let tablet = device("tablet")
    tablet.start()
    tablet.edit(["a": "1"])
    try await tablet.engine.sendChanges()
    let push = try #require(await cloud.pushes(to: "anna", device: "phone").first)
    try await eventually("the phone has the record") { phone.titles == ["a": "1"] }
    try await eventually("the fetch has ended") {
      phone.eventNames.last == "didFetchChanges"
    }
    phone.clear()
    let shared = SyncDevice(cloud.container(user: "anna", device: "s").sharedCloudDatabase)
    shared.start(automatically: true)
    try await eventually("the fetches at the start and after the registration have ended") {
      shared.eventNames.count { $0 == "didFetchChanges" } == 2
    }
    shared.clear()
    shared.engine.receive(remoteNotification: push.userInfo)
    phone.engine.receive(remoteNotification: push.userInfo)
    try await eventually("the phone has fetched") { phone.eventNames.last == "didFetchChanges" }
    #expect(shared.eventNames.isEmpty)
  }

  @Test("ten pushes at once are one fetch after the one that runs")
  func manyPushes() async throws {
    let phone = device("phone")
    phone.start(automatically: true)
    await cloud.settle()
    phone.clear()
    // The first fetch goes on when all pushes have come.
    let pushes = AsyncStream.makeStream(of: Void.self)
    phone.onEvent.withLock {
      $0 = { event, _ in
        guard case .willFetchChanges = event else { return }
        for await _ in pushes.stream {}
      }
    }
    for _ in 0..<10 { phone.engine.receive(remoteNotification: ["aps": [:], "ck": [:]]) }
    pushes.continuation.finish()
    await cloud.settle()
    #expect(phone.eventNames.count { $0 == "willFetchChanges" } == 2)
    #expect(phone.eventNames.last == "didFetchChanges")
  }

  @Test("the cloud is settled when the engines have sent what is pending, and fetched after pushes")
  func settling() async throws {
    let devices = ["phone", "tablet", "laptop"].map { device($0) }
    for device in devices { device.start(automatically: true) }
    await cloud.settle()
    for round in 1...5 {
      devices[round % 3].edit(["a": "\(round)", "b\(round)": "x"])
      await cloud.settle()
      for device in devices {
        #expect(device.titles["a"] == "\(round)" && device.titles.count == round + 1)
        #expect(device.events.last?.description.hasPrefix("stateUpdate") ?? false)
      }
    }
  }

  @Test(
    "a push that names a zone puts the zone into the list of zones with unfetched changes",
    arguments: [CKSubscription.SubscriptionType.recordZone, .database])
  func zonePush(type: CKSubscription.SubscriptionType) async throws {
    let (phone, tablet) = (device("phone"), device("tablet"))
    for device in [phone, tablet] {
      device.start()
      try await device.engine.sendChanges()
      try await device.engine.fetchChanges()
    }
    try await phone.database.save(
      type == .database
        ? CKDatabaseSubscription(subscriptionID: "all")
        : CKRecordZoneSubscription(zoneID: phone.zoneID, subscriptionID: "zone"))
    tablet.edit(["a": "1"])
    try await tablet.engine.sendChanges()
    let push = try #require(await cloud.pushes(to: "anna", device: "phone").first)
    phone.engine.receive(remoteNotification: push.userInfo)
    #expect(phone.engine.state.zoneIDsWithUnfetchedServerChanges == [phone.zoneID])
    try await phone.engine.fetchChanges()
    #expect(phone.titles == ["a": "1"])
    #expect(phone.engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
  }

  @Test(
    "what the server refused for a time is sent after that time, not before",
    arguments: [
      TestFault.rateLimited(retryAfter: 1), .serviceUnavailable(retryAfter: 1),
      .zoneBusy(retryAfter: 1),
    ])
  func retryTime(fault: TestFault) async throws {
    let phone = device("phone")
    phone.start(automatically: true)
    await cloud.settle()
    let times = Mutex<[ContinuousClock.Instant]>([])
    phone.onEvent.withLock {
      $0 = { event, _ in
        guard case .sentRecordZoneChanges = event else { return }
        times.withLock { $0.append(.now) }
      }
    }
    cloud.fail(next: fault, device: "phone", operation: .modifyRecords)
    phone.edit(["a": "1"])
    try await eventually("the record is sent at the second attempt") {
      times.withLock { $0.count } == 2
    }
    let instants = times.withLock { $0 }
    #expect(instants[1] - instants[0] >= .seconds(1))
    #expect(phone.engine.state.pendingRecordZoneChanges.isEmpty)
  }

  @Test("the engines of a container and a loop over its notifications all get a push")
  func hub() async throws {
    let container = cloud.container(user: "anna", device: "phone")
    let phone = SyncDevice(container.privateCloudDatabase)
    let shared = SyncDevice(container.sharedCloudDatabase)
    for device in [phone, shared] { device.start(automatically: true) }
    let notifications = container.remoteNotifications()
    try await notifications.register()
    async let first = notifications.first { _ in true }
    try await eventually("the subscription is saved") {
      try await phone.database.allSubscriptions().count == 1
    }
    let tablet = device("tablet")
    tablet.start()
    tablet.edit(["a": "1"])
    try await tablet.engine.sendChanges()
    try await eventually("the phone has the record") { phone.titles == ["a": "1"] }
    let push = try #require(try await first)
    let notification = CKDatabaseNotification(fromRemoteNotificationDictionary: push)
    #expect(notification?.databaseScope == .private)
  }
}
