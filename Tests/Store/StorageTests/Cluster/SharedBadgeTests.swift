import CloudKitModel
import PostgreSQLTesting
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

struct SharedBadgeTests {
  /// Runs `body` with two stores, each as another server would have it open.
  private func withTwo(_ body: (TestStore, TestStore) async throws -> Void) async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    let location = StoreLocation.postgreSQL(try PostgreSQLAddress(schema.address), assets: nil)
    var stores: [Store] = []
    for _ in 0..<2 {
      stores.append(
        try await Store.open(at: location, configuration: StoreConfiguration(role: .tool)))
    }
    try await body(try await TestStore(stores[0]), try await TestStore(stores[1]))
    for store in stores { await store.close() }
    try await PostgreSQLServer.shared.drop(schema)
  }

  /// The badges of what Alice is owed after saves in a database that one of the stores dispatches.
  private func badges(
    afterSaving count: Int, in database: DatabaseID, through store: TestStore
  ) async throws -> [Int] {
    var badges: [Int] = []
    for number in 0..<count {
      try await store.save("note \(database.rawValue) \(number)", in: database, by: "_carol")
      badges += try await store.dispatch(database).deliveries.compactMap(\.badge)
    }
    return badges
  }

  @Test("each notification has a badge of its own, whichever server logged it")
  func raising() async throws {
    try await withTwo { first, second in
      try await first.register("device", device: "phone")
      for database in [first.publicID, first.privateID] {
        let outcome = try await first.subscribe(
          noteSubscription("badged", badge: true), in: database)
        #expect(outcome.failure == nil)
      }
      async let one = badges(afterSaving: 10, in: first.publicID, through: first)
      async let other = badges(afterSaving: 10, in: second.privateID, through: second)
      #expect(try await (one + other).sorted() == Array(1...20))
    }
  }

  @Test("a badge that one server sets, and a device that changes hands there, count for the other")
  func resetting() async throws {
    try await withTwo { first, second in
      try await first.register("device", device: "phone")
      for user in [TestStore.alice, TestStore.bob] {
        let outcome = try await first.subscribe(noteSubscription("badged", badge: true), as: user)
        #expect(outcome.failure == nil)
      }
      #expect(
        try await badges(afterSaving: 3, in: first.publicID, through: first) == [1, 2, 3])
      try await second.store.devices.setBadge(
        7,
        of: Recipient(
          userRecordName: TestStore.alice, container: TestStore.container,
          environment: .development))
      try await first.save("eighth", by: "_carol")
      #expect(try await first.dispatch().deliveries.compactMap(\.badge) == [8])
      // The same device again keeps its count; with another user it begins anew.
      try await second.register("device", device: "phone", at: 1)
      try await first.save("ninth", by: "_carol")
      #expect(try await first.dispatch().deliveries.compactMap(\.badge) == [9])
      try await second.register("device", user: TestStore.bob, device: "phone", at: 2)
      try await first.save("first", by: "_carol")
      #expect(try await first.dispatch().deliveries.compactMap(\.badge) == [1])
    }
  }
}
