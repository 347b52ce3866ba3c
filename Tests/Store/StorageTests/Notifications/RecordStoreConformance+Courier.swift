import CloudKitModel
import Foundation
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  /// The notification log as readers of the web courier get it.
  struct Courier {
    static let engines = StoreEngine.allCases

    @Test(
      "a courier reader sees what is logged, in order, without its own changes", arguments: engines)
    func courier(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        try await test.watch()
        let zone = try await test.makeZone("z")
        _ = try await test.subscribe(noteSubscription("s", badge: true))
        _ = try await test.subscribe(
          Subscription(subscriptionID: "d", kind: .database(recordType: nil)), in: test.privateID)
        try await test.save("before")
        try await test.dispatch(at: 1)
        for reader in ["web", "pages"] {
          try await test.register(reader, kind: .courier, device: "tab", at: 2)
        }
        #expect(
          try await store.courier.courierEntries(
            forToken: "web", after: CourierPosition(), limit: 1
          ).first == nil)
        try await test.save("own", device: "tab")
        try await test.save("first", device: "other")
        try await test.dispatch(at: 3)
        try await test.save("second", zone: zone, in: test.privateID)
        try await test.dispatch(test.privateID, at: 4)
        try await test.save("third")
        try await test.dispatch(at: 5)
        var names: [String?] = []
        var badges: [Int?] = []
        while let next = try await store.courier.courierEntries(
          forToken: "web", after: CourierPosition(), limit: 1
        ).first {
          #expect(
            try await store.courier.courierEntries(
              forToken: "web", after: CourierPosition(), limit: 1
            ).first == next)
          names.append(next.entry.notification.change.record?.recordID.recordName)
          badges.append(next.badge)
          try await store.courier.acknowledgeCourierEntries([next.entry], forToken: "web")
          try await store.courier.acknowledgeCourierEntries([next.entry], forToken: "web")
        }
        // The zone was made before the reader came, but logged after.
        #expect(names == ["first", nil, "second", "third"])
        #expect(badges == [1, nil, nil, 2])
        for limit in 1...5 {
          let page = try await store.courier.courierEntries(
            forToken: "pages", after: CourierPosition(), limit: limit)
          #expect(
            page.map(\.entry.notification.change.record?.recordID.recordName)
              == Array(names.prefix(limit)))
          #expect(page.map(\.badge) == Array(badges.prefix(limit)))
        }
        let page = try await store.courier.courierEntries(
          forToken: "pages", after: CourierPosition(), limit: 9
        ).map(\.entry)
        // A part, the whole and the whole again: each entry counts once.
        for entries in [Array(page.prefix(2)), page, page] {
          try await store.courier.acknowledgeCourierEntries(entries, forToken: "pages")
        }
        #expect(
          try await store.courier.courierEntries(
            forToken: "pages", after: CourierPosition(), limit: 1
          ).first == nil)
        try await test.save("fourth")
        try await test.dispatch(at: 6)
        #expect(
          try await store.courier.courierEntries(
            forToken: "pages", after: CourierPosition(), limit: 1
          ).first?.badge == 3)
        #expect(
          await storeError {
            _ = try await store.courier.courierEntries(
              forToken: "none", after: CourierPosition(), limit: 1
            ).first
          }
            == .notFound)
      }
    }
  }
}
