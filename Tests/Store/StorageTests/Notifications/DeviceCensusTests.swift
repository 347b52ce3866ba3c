import CloudKitModel
import PostgreSQLTesting
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

struct DeviceCensusTests {
  /// Registers devices, two of which are not counted, and takes the census while the store is open.
  private func check(_ location: StoreLocation) async throws {
    let store = try await Store.open(
      at: location, configuration: StoreConfiguration(role: .server))
    let test = try await TestStore(store)
    #expect(try await DeviceCensus.take(at: location).groups == [])
    func register(
      _ kind: DeviceToken.Kind, _ name: String, in container: String, of bundleID: String? = nil,
      expires: Int64? = nil
    ) async throws {
      let isWeb = kind == .webPush || kind == .webhook
      try await test.store.devices.saveDeviceToken(
        DeviceToken(
          kind: kind, token: isWeb ? WebEndpoint.token(kind: kind, digest: name) : name,
          container: container, environment: .development, apnsEnvironment: .production,
          bundleID: bundleID, userRecordName: TestStore.alice, deviceID: nil,
          registered: TestStore.time(0),
          expires: expires.map { TestStore.time($0) },
          endpoint: isWeb ? WebEndpoint(url: "https://example.com/", secrets: [1]) : nil))
    }
    for token in ["aa", "bb"] { try await register(.apns, token, in: "iCloud.b") }
    try await register(.apns, "cc", in: "iCloud.a")
    for token in ["dd", "ee"] { try await register(.apns, token, in: "iCloud.a", of: "app.mac") }
    _ = try await test.subscribe(noteSubscription("s"))
    try await test.register("ff")
    try await test.save("n", by: TestStore.bob)
    let owed = try await test.dispatch().deliveries
    try await test.store.deliveries.updateDeliveries([
      DeliveryUpdate(
        id: owed[0].id, state: .abandoned(reason: "400"), timestamp: TestStore.time(1),
        device: .refused(topic: "app"))
    ])
    try await register(.webPush, "b", in: "iCloud.a", expires: 11)
    try await register(.webPush, "late", in: "iCloud.a", expires: 10)
    try await register(.webhook, "h", in: "iCloud.a")
    try await register(.courier, "reader", in: "iCloud.a", expires: 1_000)
    let census = try await DeviceCensus.take(at: location, now: TestStore.time(10))
    #expect(
      census.groups == [
        .init(kind: .apns, container: "iCloud.a", count: 1),
        .init(kind: .apns, container: "iCloud.a", bundleID: "app.mac", count: 2),
        .init(kind: .apns, container: "iCloud.b", count: 2),
        .init(kind: .apns, container: TestStore.container, refusedTopic: "app", count: 1),
        .init(kind: .webPush, container: "iCloud.a", count: 1),
        .init(kind: .webhook, container: "iCloud.a", count: 1),
      ])
    await store.close()
    #expect(try await DeviceCensus.take(at: location, now: TestStore.time(10)) == census)
  }

  @Test("counts those that pushes go to, by kind and container, in a file")
  func file() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/store.sqlite"
      #expect(await storeError { _ = try await DeviceCensus.take(at: .file(path: path)) } != nil)
      try await check(.file(path: path))
    }
  }

  @Test("counts those that pushes go to, by kind and container, in PostgreSQL")
  func postgreSQL() async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    try await check(.postgreSQL(try PostgreSQLAddress(schema.address), assets: nil))
    try await PostgreSQLServer.shared.drop(schema)
  }
}
