import APNsSimulation
import CloudKit
import CloudKitModel
import JSONCoding
import StoreModel
import Testing
import Waiting

/// The pushes of an app whose builds have several bundle IDs.
struct PushTopicTests {
  private static let macTopic = Cloud.topic + ".mac"

  /// Registers Anna's Mac, whose token belongs to the Mac build, under a bundle ID or none.
  private func registerMac(_ cloud: Cloud, bundleID: String?) async throws -> CKContainer {
    let mac = try await cloud.container(of: "anna", device: "mac")
    try await mac.registerForRemoteNotifications(
      deviceToken: Cloud.deviceToken(of: "anna", device: "mac"), bundleID: bundleID)
    return mac
  }

  private static let macToken = Cloud.deviceTokenText(of: "anna", device: "mac")

  @Test("A phone and a Mac build of an app get their pushes, each with the topic of its build")
  func twoTopics() async throws {
    try await Cloud.run(topics: [Cloud.topic, Self.macTopic]) { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      _ = try await registerMac(cloud, bundleID: Self.macTopic)
      await cloud.simulator.setTopics(
        [Cloud.topic], of: Cloud.deviceTokenText(of: "anna", device: "phone"))
      await cloud.simulator.setTopics([Self.macTopic], of: Self.macToken)
      try await phone.privateCloudDatabase.subscribe(where: .all, info: .init(alertBody: "New"))
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await laptop.add("Item", "A")
      #expect(try await cloud.pushes(to: "anna")[0].headers["apns-topic"] == Cloud.topic)
      let push = try await cloud.pushes(to: "anna", device: "mac")[0]
      #expect(push.headers["apns-topic"] == Self.macTopic)
      #expect(await cloud.simulator.received.allSatisfy(\.isAccepted))
    }
  }

  @Test(
    "A token under the topic of another build stays registered, and works when the app names its own"
  )
  func wrongTopic() async throws {
    try await Cloud.run(topics: [Cloud.topic, Self.macTopic]) { cloud in
      let mac = try await registerMac(cloud, bundleID: nil)
      await cloud.simulator.setTopics([Self.macTopic], of: Self.macToken)
      try await mac.privateCloudDatabase.subscribe(where: .all, info: .init(alertBody: "New"))
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      func registration() async throws -> DeviceToken? {
        try await cloud.store.devices.registrations(ofToken: Self.macToken, kind: .apns).first
      }
      try await laptop.add("Item", "A")
      try await eventually("the refusal is noted") {
        try await registration()?.refusal?.topic == Cloud.topic
      }
      // APNs is not asked again for the same token and topic.
      try await laptop.add("Item", "B")
      #expect(try await cloud.settledPushes().isEmpty)
      let requests = await cloud.simulator.received.filter { $0.deviceToken == Self.macToken }
      #expect(requests.map(\.status) == [400])
      let owner = try #require(try await registration()?.userRecordName)
      let database = try await cloud.store.databases.database(
        at: DatabaseAddress(
          container: Cloud.container, environment: .development, scope: .private, owner: owner))
      let pushes = try await cloud.store.administration.pushes(
        in: database, before: nil, limit: 20
      ) { _ in true }
      let reasons = pushes.found.flatMap(\.deliveries).filter { $0.token == Self.macToken }
        .compactMap(\.reason)
      // The two records and the sentinel of `settledPushes`.
      #expect(pushes.found.count == 3 && reasons.count == 3)
      #expect(
        reasons.allSatisfy {
          $0.contains("DeviceTokenNotForTopic") && $0.contains("'\(Cloud.topic)'")
            && $0.contains("'containers.\(Cloud.container).apns'")
        }, "\(reasons)")

      _ = try await registerMac(cloud, bundleID: Self.macTopic)
      #expect(try await registration()?.refusal == nil)
      try await laptop.add("Item", "C")
      let push = try await cloud.pushes(to: "anna", device: "mac")[0]
      #expect(push.headers["apns-topic"] == Self.macTopic && push.recordName == "C")
    }
  }
}
