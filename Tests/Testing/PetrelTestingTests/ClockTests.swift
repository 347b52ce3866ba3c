import CloudKit
import Foundation
import PetrelTesting
import Testing

struct ClockTests {
  private static let start = Date(timeIntervalSince1970: 1_700_000_000)

  private static func cloud() async throws -> TestCloud {
    var configuration = TestCloud.Configuration()
    configuration.startDate = start
    return try await TestCloud(configuration: configuration)
  }

  @Test("it stands still, and dates go by it")
  func dates() async throws {
    let cloud = try await Self.cloud()
    let database = cloud.container(user: "anna").privateCloudDatabase
    let record = try await database.save(CKRecord(recordType: "Note"))
    #expect(record.creationDate == Self.start && record.modificationDate == Self.start)
    await cloud.clock.advance(by: .seconds(90))
    record["title"] = "Milk"
    let changed = try await database.save(record)
    #expect(changed.creationDate == Self.start)
    #expect(changed.modificationDate == Self.start.addingTimeInterval(90))
    #expect(cloud.clock.now == Self.start.addingTimeInterval(90))
  }

  @Test("it begins with the present where nothing else is asked for")
  func present() async throws {
    let before = Date().addingTimeInterval(-0.001)
    let cloud = try await TestCloud()
    #expect(cloud.clock.now >= before && cloud.clock.now <= Date().addingTimeInterval(0.001))
  }

  @Test("a push that APNs did not take is sent again when its time has come")
  func retries() async throws {
    let cloud = try await Self.cloud()
    let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    try await tablet.save(CloudTests.subscription)
    cloud.fail(nextPush: .unavailable(retryAfter: 600), user: "anna", device: "ipad")
    try await phone.save(CKRecord(recordType: "Note"))
    #expect(await cloud.settledPushes().isEmpty)
    #expect(cloud.waitingFaults == 0)
    await cloud.clock.advance(by: .seconds(599))
    #expect(await cloud.settledPushes().isEmpty)
    await cloud.clock.advance(by: .seconds(1))
    #expect(await cloud.settledPushes().map(\.device) == ["ipad"])
  }

  @Test("a push that cannot be delivered in its lifetime is given up")
  func expires() async throws {
    let cloud = try await Self.cloud()
    let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    try await tablet.save(CloudTests.subscription)
    cloud.fail(nextPush: .unavailable())
    try await phone.save(CKRecord(recordType: "Note"))
    await cloud.settle()
    await cloud.clock.advance(by: .seconds(2 * 86_400))
    #expect(await cloud.settledPushes().isEmpty)
  }

  @Test("a device from which the app was deleted gets no more pushes")
  func unregistered() async throws {
    let cloud = try await Self.cloud()
    let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    try await tablet.save(CloudTests.subscription)
    cloud.fail(nextPush: .unregistered)
    for _ in 1...3 {
      try await phone.save(CKRecord(recordType: "Note"))
      await cloud.settle()
    }
    #expect(await cloud.settledPushes().isEmpty)
  }

  @Test("nobody is signed out by the passing of time")
  func tokensLast() async throws {
    let cloud = try await Self.cloud()
    let database = cloud.container(user: "anna").privateCloudDatabase
    try await database.save(CKRecord(recordType: "Note"))
    await cloud.clock.advance(by: .seconds(3 * 365 * 86_400))
    try await database.save(CKRecord(recordType: "Note"))
  }
}
