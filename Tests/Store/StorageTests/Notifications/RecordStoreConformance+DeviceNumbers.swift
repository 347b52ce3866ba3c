import CloudKitModel
import Foundation
import PostgreSQLTesting
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

extension RecordStoreConformance {
  struct DeviceNumbers {
    private static let engines = StoreEngine.allCases
    private static let day: Int64 = 24 * 60 * 60

    /// Tokens as long as APNs'.
    private static func token(_ number: Int) -> String {
      let digits = String(number, radix: 16)
      return String(repeating: "a", count: 64 - digits.count) + digits
    }

    /// All that stands in texts of a table.
    private func texts(in name: String, of test: TestStore) async throws -> [String] {
      let store = test.store
      return try await store.transactions.read { transaction in
        let table = try SQLTable(named: name, in: transaction.connection)
        return try transaction.connection.rows(table.selection(), []) { row in
          table.columns.enumerated().compactMap { column, definition in
            definition.kind == .text ? row.optionalText(Int32(column)) : nil
          }
        }.flatMap(\.self)
      }
    }

    private func numbers(_ test: TestStore) async throws -> [String: Int64] {
      let store = test.store
      let rows = try await store.transactions.read {
        try $0.connection.rows("SELECT token, device FROM device_numbers", []) {
          ($0.text(0), $0.integer(1))
        }
      }
      return Dictionary(uniqueKeysWithValues: rows)
    }

    @Test("a row of a delivery has no token, for two devices and for fifty", arguments: engines)
    func noTokens(_ engine: StoreEngine) async throws {
      for count in [2, 50] {
        try await engine.withStore { test in
          _ = try await test.subscribe(noteSubscription("s", badge: true))
          let tokens = (0..<count).map(Self.token).sorted()
          for token in tokens { try await test.register(token) }
          try await test.save("n", by: TestStore.bob)
          let sent = try await test.dispatch()
          #expect(sent.deliveries.map(\.device.token) == tokens)
          #expect(try await test.store.deliveries.owedDeliveryCount() == count)
          let texts = try await texts(in: "deliveries", of: test)
          #expect(texts.filter { tokens.contains($0) } == [])
          let due = try await test.store.deliveries.dueDeliveries(at: TestStore.time(1), limit: 100)
          #expect(due.map(\.device.token) == tokens)
        }
      }
    }

    @Test(
      "a registration in another container takes nothing away, and each is dropped by itself",
      arguments: engines)
    func containers(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s", badge: true))
        try await test.register("aa", at: 0)
        try await test.save("n", by: TestStore.bob)
        try await test.dispatch()
        let other = "iCloud.com.example.other"
        try await test.register("aa", at: 1, in: other)
        try await test.register("aa", user: TestStore.bob, at: 1, in: "iCloud.com.example.third")
        func due() async throws -> [Delivery] {
          try await test.store.deliveries.dueDeliveries(at: TestStore.time(1), limit: 100)
        }
        let waiting = try await due()
        #expect(waiting.map(\.device.container) == [TestStore.container])
        #expect(waiting.map(\.badge) == [1])
        let here = Recipient(
          userRecordName: TestStore.alice, container: TestStore.container,
          environment: .development)
        var there = here
        there.container = other
        #expect(
          try await test.store.devices.removeDeviceToken(
            "aa", kind: .apns, of: there, at: TestStore.time(2)))
        #expect(try await due() == waiting)
        #expect(
          try await test.store.devices.removeDeviceToken(
            "aa", kind: .apns, of: here, at: TestStore.time(2)))
        #expect(try await due().isEmpty)
        let left = try await test.store.devices.registrations(ofToken: "aa", kind: .apns)
        #expect(left.map(\.userRecordName) == [TestStore.bob])
      }
    }

    @Test(
      "what waits goes over to the app that the device names anew, on a route of its own",
      arguments: engines)
    func apps(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s"))
        try await test.register("aa", at: 0)
        try await test.register("bb", at: 0, bundleID: "app.mac")
        try await test.save("n", by: TestStore.bob)
        let sent = try await test.dispatch()
        #expect(sent.deliveries.map(\.device.bundleID) == [nil, "app.mac"])
        #expect(Set(sent.deliveries.map(\.route)).count == 2)
        let routes = try await test.store.deliveries.deliveryRoutes()
        #expect(sent.deliveries.map { routes[$0.route]?.bundleID } == [nil, "app.mac"])
        try await test.register("aa", at: 1, bundleID: "app.mac")
        let due = try await test.store.deliveries.dueDeliveries(at: TestStore.time(1), limit: 9)
        #expect(due.map(\.device.bundleID) == ["app.mac", "app.mac"])
        #expect(Set(due.map(\.route)) == [sent.deliveries[1].route])
        let periods = try await test.store.changeHistory.devicePeriods(
          of: Recipient(
            userRecordName: TestStore.alice, container: TestStore.container,
            environment: .development))
        #expect(periods.map(\.bundleID) == [nil, "app.mac", "app.mac"])
        #expect(
          periods.map(\.reason) == [
            "it was registered for another user, client ID or bundle ID", nil, nil,
          ])
      }
    }

    @Test(
      "a refused device stays, with the time of the first refusal, until it is accepted or registered again",
      arguments: engines)
    func refusals(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s"))
        try await test.register("aa", at: 0)
        for name in ["m", "n"] { try await test.save(name, by: TestStore.bob) }
        let owed = try await test.dispatch().deliveries
        try #require(owed.count == 2)
        func judge(
          _ verdict: DeliveryUpdate.DeviceVerdict, at seconds: Int64
        ) async throws -> DeviceToken.Refusal? {
          try await test.store.deliveries.updateDeliveries([
            DeliveryUpdate(
              id: owed[0].id, state: .abandoned(reason: "400"), timestamp: TestStore.time(seconds),
              device: verdict)
          ])
          let devices = try await test.store.devices.registrations(ofToken: "aa", kind: .apns)
          try #require(devices.count == 1)
          return devices[0].refusal
        }
        let first = DeviceToken.Refusal(since: TestStore.time(2), topic: "app")
        #expect(try await judge(.refused(topic: "app"), at: 2) == first)
        #expect(try await judge(.refused(topic: "app"), at: 3) == first)
        let due = try await test.store.deliveries.dueDeliveries(at: TestStore.time(4), limit: 9)
        #expect(due.map(\.id) == [owed[1].id])
        #expect(due.map(\.device.refusal) == [first])
        #expect(try await judge(.accepted, at: 4) == nil)
        #expect(
          try await judge(.refused(topic: nil), at: 5)
            == DeviceToken.Refusal(since: TestStore.time(5)))
        try await test.register("aa", at: 6)
        let again = try await test.store.devices.registrations(ofToken: "aa", kind: .apns)
        #expect(again.map(\.refusal) == [nil])
      }
    }

    @Test(
      "what waits for a device that goes is given up for good, and the history names its token",
      arguments: engines)
    func goneDevice(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        _ = try await test.subscribe(noteSubscription("s"))
        for token in ["hook", "other"] { try await test.register(token, kind: .webhook) }
        try await test.save("n", by: TestStore.bob)
        try await test.dispatch()
        let recipient = Recipient(
          userRecordName: TestStore.alice, container: TestStore.container,
          environment: .development)
        #expect(
          try await store.devices.removeDeviceToken(
            "hook", kind: .webhook, of: recipient, at: TestStore.time(2)))
        let numbers = try await numbers(test)
        // Registered again, and for another user: the number is the token's.
        try await test.register("hook", kind: .webhook, at: 3)
        try await test.register("hook", kind: .webhook, user: TestStore.bob, at: 4)
        #expect(try await self.numbers(test) == numbers)
        #expect(
          try await store.deliveries.dueDeliveries(at: TestStore.time(9), limit: 9).map(
            \.device.token)
            == ["other"])
        let past = try await store.changeHistory.notifications(
          ofSubscription: SubscriptionName(subscriber: TestStore.alice, subscriptionID: "s"),
          in: test.publicID, limit: 1)
        #expect(past.first?.deliveries.map(\.token) == ["hook", "other"])
        #expect(past.first?.deliveries.map(\.state) == [.abandoned, .waiting])
      }
    }

    @Test(
      "a number is kept as long as anything tells of its device, and not given again",
      arguments: engines)
    func retention(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let recipient = Recipient(
          userRecordName: TestStore.alice, container: TestStore.container,
          environment: .development)
        for token in ["gone", "back", "stays"] { try await test.register(token, kind: .webhook) }
        try await test.register("reader", kind: .courier)
        try await test.register("late", kind: .webPush, expires: 9)
        let first = try await numbers(test)
        #expect(Set(first.keys) == ["gone", "back", "stays", "late"])
        for token in ["gone", "back"] {
          #expect(
            try await test.store.devices.removeDeviceToken(
              token, kind: .webhook, of: recipient, at: TestStore.time(5)))
        }
        try await test.register("back", kind: .webhook, user: TestStore.bob, at: 6)
        try await test.store.maintenance.trim(at: TestStore.time(10))
        #expect(try await numbers(test) == first)
        try await test.store.maintenance.trim(at: TestStore.time(100 * Self.day))
        let kept = try await numbers(test)
        #expect(kept == first.filter { ["back", "stays"].contains($0.key) })
        try await test.register("gone", kind: .webhook, at: 100 * Self.day)
        let anew = try #require(try await numbers(test)["gone"])
        #expect(first.values.allSatisfy { $0 < anew })
        _ = try await test.subscribe(noteSubscription("s"))
        try await test.save("n", by: TestStore.bob)
        let sent = try await test.dispatch()
        #expect(sent.deliveries.map(\.device.token) == ["gone", "stays"])
      }
    }
  }
}
