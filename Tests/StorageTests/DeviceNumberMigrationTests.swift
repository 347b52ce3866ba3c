import CloudKitModel
import PostgreSQLTesting
import Testing

@testable import Storage

@Suite("Deliveries of a store that has no numbers of devices")
struct DeviceNumberMigrationTests {
  private struct Reading: Equatable {
    var due: [Delivery]
    var past: [[PastDelivery]]
    var owed: Int
  }

  private func read(_ store: SQLRecordStore) async throws -> Reading {
    let test = try await TestStore(store)
    let past = try await store.notifications(
      ofSubscription: SubscriptionName(subscriber: TestStore.alice, subscriptionID: "s"),
      in: test.publicID, limit: 100)
    return Reading(
      due: try await store.dueDeliveries(at: TestStore.time(1_000), limit: 1_000),
      past: past.map(\.deliveries), owed: try await store.owedDeliveryCount())
  }

  private func checkMigration(of location: StoreLocation) async throws {
    let store = try await SQLRecordStore.open(at: location)
    let test = try await TestStore(store)
    _ = try await test.subscribe(noteSubscription("s", badge: true))
    for token in ["aa", "bb", "cc"] { try await test.register(token) }
    for token in ["hook", "gone"] { try await test.register(token, kind: .webhook) }
    for number in 0..<20 { try await test.save("n\(number)", by: TestStore.bob) }
    try await test.dispatch()
    let ids = try await store.dueDeliveries(at: TestStore.time(1), limit: 100).map(\.id)
    let states: [DeliveryUpdate.State] = [
      .delivered(), .abandoned(reason: "why"), .merged(into: ids[9].number),
      .refused(reason: "fault", payload: [1]),
      .retry(at: TestStore.time(500), reason: "busy", wasSent: true),
      .postponed(until: TestStore.time(600), reason: "rests"),
    ]
    _ = try await store.updateDeliveries(
      zip(ids, states).map { DeliveryUpdate(id: $0, state: $1, timestamp: TestStore.time(2)) })
    let recipient = Recipient(
      userRecordName: TestStore.alice, container: TestStore.container, environment: .development)
    #expect(
      try await store.removeDeviceToken(
        "gone", kind: .webhook, of: recipient, at: TestStore.time(3)))
    let before = try await read(store)
    #expect(before.owed > 70 && Set(before.due.map(\.attempts)) == [0, 1])
    try await store.write(locking: .everything) { session in
      for statement in OldForms.form30 { try session.connection.execute(statement) }
    }
    await store.close()

    let migrated = try await SQLRecordStore.open(at: location)
    #expect(try await read(migrated) == before)
    // They are taken and merged as any.
    let lease = DeliveryLease(holder: 1, until: TestStore.time(2_000))
    var taken: [Delivery.ID] = []
    for route in try await migrated.deliveryRoutes().keys {
      let found = try await migrated.takeDeliveries(
        on: route, dueAt: TestStore.time(1_000), limit: 1_000, lease: lease, mergingHarder: false)
      #expect(found.lostCount == 0 && found.isAll)
      taken += found.deliveries.map(\.id)
    }
    #expect(Set(taken) == Set(before.due.map(\.id)))
    // New ones and new devices come after the old.
    let newer = try await TestStore(migrated)
    try await newer.register("dd")
    try await newer.save("more", by: TestStore.bob)
    #expect(
      try await newer.dispatch().deliveries.map(\.device.token) == ["aa", "bb", "cc", "dd", "hook"])
    await migrated.close()
  }

  /// How many deliveries there are to a device, and the sum of their numbers.
  private struct Share: Equatable {
    var token: String
    var count: Int64
    var sum: Int64

    init(_ row: any SQLRow) {
      token = row.text(0)
      count = row.integer(1)
      sum = row.integer(2)
    }
  }

  private static let shares =
    "SELECT token, COUNT(*), CAST(SUM(number) AS BIGINT) FROM deliveries"

  private func checkManyDeliveries(at location: StoreLocation) async throws {
    let store = try await SQLRecordStore.open(at: location)
    let test = try await TestStore(store)
    _ = try await test.subscribe(noteSubscription("s", badge: true))
    for token in ["aa", "bb", "cc"] { try await test.register(token) }
    try await test.save("n", by: TestStore.bob)
    try await test.dispatch()
    let before = try await store.write(locking: .everything) { session in
      for statement in OldForms.form30 { try session.connection.execute(statement) }
      for _ in 0..<15 {
        try session.connection.run(
          """
          INSERT INTO deliveries (database_id, number, log_sequence, token, due, attempts, state,
            updated, route)
          SELECT database_id, number + (SELECT MAX(number) FROM deliveries), log_sequence, token,
            due, attempts, state, updated, route
          FROM deliveries
          """, [])
      }
      return try session.connection.rows(
        Self.shares + " GROUP BY token ORDER BY token", [], Share.init)
    }
    await store.close()

    let migrated = try await SQLRecordStore.open(at: location)
    let after = try await migrated.read { session in
      try session.connection.rows(
        Self.shares
          + " JOIN device_numbers ON device_numbers.device = deliveries.device"
          + " GROUP BY token ORDER BY token", [], Share.init)
    }
    #expect(after == before)
    #expect(after.map(\.count) == [32_768, 32_768, 32_768])
    await migrated.close()
  }

  private func inFile(_ check: (StoreLocation) async throws -> Void) async throws {
    try await withTemporaryDirectory { try await check(.file(path: $0 + "/a.sqlite")) }
  }

  private func inPostgreSQL(_ check: (StoreLocation) async throws -> Void) async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    try await check(.postgreSQL(try PostgreSQLAddress(schema.address), assets: nil))
    try await PostgreSQLServer.shared.drop(schema)
  }

  @Test("are all there afterwards, however many they are")
  func many() async throws {
    try await inFile(checkManyDeliveries(at:))
    try await inPostgreSQL(checkManyDeliveries(at:))
  }

  @Test("are delivered as they would have been")
  func delivery() async throws {
    try await inFile(checkMigration(of:))
    try await inPostgreSQL(checkMigration(of:))
  }
}
