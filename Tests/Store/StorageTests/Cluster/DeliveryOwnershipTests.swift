import CloudKitModel
import StoreModel
import Testing

@testable import Storage

struct DeliveryOwnershipTests {
  @Test("nothing goes to a device that has become another user's, whatever is still owed to it")
  func anotherUser() async throws {
    for separates in [false, true] {
      var configuration = StoreConfiguration()
      configuration.separatesDatabases = separates
      let store = try await Store.inMemory(configuration: configuration)
      let test = try await TestStore(store)
      #expect(try await test.subscribe(noteSubscription("s")).failure == nil)
      try await test.register("first")
      try await test.register("second", device: "tablet")
      try await test.save("n", by: TestStore.bob)
      try await test.dispatch()
      // As if nothing had followed from a registration yet.
      try await store.transactions.write { transaction in
        _ = try transaction.connection.run(
          "UPDATE device_tokens SET user_record_name = $1 WHERE token = 'first'",
          [.text(TestStore.bob)])
      }
      let route = try #require(try await store.deliveries.deliveryRoutes().keys.first)
      let taken = try await store.deliveries.takeDeliveries(
        on: route, dueAt: TestStore.time(1), limit: 10,
        lease: DeliveryLease(holder: 1, until: TestStore.time(60)), mergingHarder: false)
      #expect(taken.deliveries.map(\.device.token) == ["second"])
      #expect(taken.lostCount == 1)
      #expect(try await store.deliveries.owedDeliveryCount() == 1)
      await store.close()
    }
  }
}
