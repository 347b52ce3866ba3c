import CloudKitModel
import StoreModel
import Testing

extension RecordStoreConformance {
  struct WebDevices {
    static let engines = StoreEngine.allCases

    private func device(
      _ kind: DeviceToken.Kind, _ name: String, user: String = TestStore.alice,
      at seconds: Int64 = 0, expires: Int64? = nil
    ) -> DeviceToken {
      DeviceToken(
        kind: kind, token: WebEndpoint.token(kind: kind, digest: name),
        container: TestStore.container, environment: .development, apnsEnvironment: .production,
        userRecordName: user, deviceID: nil, registered: TestStore.time(seconds),
        expires: expires.map { TestStore.time($0) },
        endpoint: WebEndpoint(url: "https://example.com/\(name)", secrets: [1, 2, 3]))
    }

    private static let alice = Recipient(
      userRecordName: TestStore.alice, container: TestStore.container, environment: .development)

    @Test("are owed what the user's other devices are, each over its own route", arguments: engines)
    func owed(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s", badge: true))
        let browser = device(.webPush, "b")
        let webhook = device(.webhook, "h")
        try await test.register("aa")
        try await test.register("reader", kind: .courier)
        for device in [browser, webhook] { try await test.store.devices.saveDeviceToken(device) }
        try await test.save("n")
        let result = try await test.dispatch(at: 1)
        #expect(Set(result.deliveries.map(\.device.kind)) == [.apns, .webPush, .webhook])
        #expect(result.deliveries.map(\.badge) == [1, 1, 1])
        #expect(Set(result.deliveries.map(\.route)).count == 3)
        let due = try await test.store.deliveries.dueDeliveries(at: TestStore.time(1), limit: 10)
        #expect(Set(due) == Set(result.deliveries))
        #expect(Set(due.map(\.device)).isSuperset(of: [browser, webhook]))
      }
    }

    @Test("are gone with what is owed to them when they are dropped or removed", arguments: engines)
    func gone(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s"))
        let browser = device(.webPush, "b")
        let webhook = device(.webhook, "h")
        for device in [browser, webhook] { try await test.store.devices.saveDeviceToken(device) }
        for name in ["m", "n"] { try await test.save(name) }
        let owed = try await test.dispatch(at: 1).deliveries
        #expect(owed.count == 4)
        let first = try #require(owed.first { $0.device.kind == .webPush })
        try await test.store.deliveries.updateDeliveries([
          DeliveryUpdate(
            id: first.id, state: .abandoned(reason: "410"), timestamp: TestStore.time(2),
            device: .gone(registeredBefore: TestStore.time(2)))
        ])
        #expect(try await test.store.devices.deviceTokens(of: TestStore.alice) == [webhook])
        let left = try await test.store.deliveries.dueDeliveries(at: TestStore.time(2), limit: 10)
        #expect(left.map(\.device.kind) == [.webhook, .webhook])
        let stranger = Recipient(
          userRecordName: TestStore.bob, container: TestStore.container,
          environment: .development)
        for (recipient, isRemoved) in [(stranger, false), (Self.alice, true), (Self.alice, false)] {
          let answer = try await test.store.devices.removeDeviceToken(
            webhook.token, kind: .webhook, of: recipient, at: TestStore.time(3))
          #expect(answer == isRemoved)
        }
        #expect(
          try await test.store.deliveries.dueDeliveries(at: TestStore.time(9), limit: 10).isEmpty)
      }
    }

    @Test("silent deliveries of a browser become one, those of a webhook never", arguments: engines)
    func merging(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        var silent = noteSubscription("s")
        silent.notificationInfo = NotificationInfo()
        silent.notificationInfo?.shouldSendContentAvailable = true
        _ = try await test.subscribe(silent)
        for device in [device(.webPush, "b"), device(.webhook, "h")] {
          try await test.store.devices.saveDeviceToken(device)
        }
        for number in 0..<5 { try await test.save("n\(number)") }
        let owed = try await test.dispatch(at: 1).deliveries
        var counts: [DeviceToken.Kind: Int] = [:]
        for route in Set(owed.map(\.route)) {
          let taken = try await test.store.deliveries.takeDeliveries(
            on: route, dueAt: TestStore.time(2), limit: 100,
            lease: DeliveryLease(holder: 7, until: TestStore.time(100)), mergingHarder: false)
          for delivery in taken.deliveries { counts[delivery.device.kind, default: 0] += 1 }
        }
        #expect(counts == [.webPush: 1, .webhook: 5])
      }
    }

    @Test(
      "are so many and no more, counted by kind, container and what has not ended",
      arguments: engines)
    func limit(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let attempts = [
          (device(.webPush, "a", expires: 10), true), (device(.webPush, "b"), true),
          (device(.webPush, "c"), false), (device(.webPush, "b", at: 1), true),
          (device(.webhook, "c"), true), (device(.webPush, "c", user: TestStore.bob), true),
          (device(.webPush, "d", at: 10), true),
        ]
        for (device, isSaved) in attempts {
          let answer = try await test.store.devices.saveDeviceToken(device, unlessBeyond: 2)
          #expect(answer == isSaved, "\(device.token)")
        }
        let devices = try await test.store.devices.deviceTokens(of: TestStore.alice)
        #expect(devices.count == 4)
      }
    }
  }
}
