import CloudKitModel
import Foundation
import PropertyTesting
import Storage
import StoreModel
import Testing

extension RecordStoreConformance {
  struct Backlogs {
    private static let engines = StoreEngine.allCases

    private func capacity(
      unwritten: Int = .max, _ backlogs: UserBacklogs = UserBacklogs(limit: .max),
      isSetUp: @escaping @Sendable (DeviceToken) -> Bool = { _ in true },
      isRefused: @escaping @Sendable (DeviceToken) -> Bool = { _ in false }
    ) -> DeliveryCapacity {
      DeliveryCapacity(
        lease: DeliveryLease(holder: 7, until: TestStore.time(100)), capacities: [:],
        otherCapacity: 0,
        unwritten: unwritten, backlogs: backlogs, isSetUp: isSetUp, isRefused: isRefused)
    }

    private func notify(
      _ test: TestStore, _ names: [String], _ capacity: DeliveryCapacity
    ) async throws -> DispatchResult {
      for name in names { try await test.save(name) }
      let subscriptions = try await test.storedSubscriptions()
      let matched = try await test.outbox().map { entry in
        MatchedChange(
          entry: entry, firings: subscriptions.filter { $0.subscription.matches(entry.change) })
      }
      return try await test.store.outbox.completeDispatch(
        of: matched, timestamp: TestStore.time(1), leasing: capacity)
    }

    /// Why there are no deliveries for the latest notification of a user's.
    private func unsent(_ test: TestStore, of user: String) async throws -> UnsentDeliveries? {
      try await test.store.changeHistory.notifications(
        ofSubscription: SubscriptionName(subscriber: user, subscriptionID: "s"),
        in: test.publicID, limit: 1
      ).first?.unsent
    }

    @Test("to devices whose channel is not set up; the log says so", arguments: engines)
    func notSetUp(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s"))
        try await test.register("phone")
        try await test.register("hook", kind: .webhook)
        let result = try await notify(test, ["a"], capacity { $0.kind == .webhook })
        #expect(result.logged.count == 1 && result.unsent.notSetUp == 1)
        #expect(result.waiting.values.reduce(0, +) == 1)
        #expect(
          try await test.store.deliveries.dueDeliveries(at: TestStore.time(9), limit: 9).map(
            \.device.token)
            == ["hook"])
        #expect(try await unsent(test, of: TestStore.alice) == .apnsDevelopment)
        let later = try await notify(test, ["b"], capacity())
        #expect(later.waiting.values.reduce(0, +) == 2 && later.unsent == UnsentDeliveryCounts())
        #expect(try await unsent(test, of: TestStore.alice) == [])
      }
    }

    @Test(
      "and what nobody but the origin is owed is not logged, if the subscription fires once",
      arguments: engines)
    func firesOnce(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let options: Subscription.Options = [.firesOnRecordCreation, .firesOnce]
        func logged(by device: String, limit: Int = 9) async throws -> [String] {
          try await test.save(UUID().uuidString, device: device)
          return try await notify(
            test, [],
            capacity(
              UserBacklogs(limit: limit), isSetUp: { $0.kind != .webPush },
              isRefused: { $0.token == "refused" })
          ).logged.map(\.notification.subscription.subscriptionID)
        }
        _ = try await test.subscribe(noteSubscription("s", options: options), hasReader: false)
        #expect(try await logged(by: "phone").isEmpty, "there is no device")
        try await test.register("aa", device: "phone")
        try await test.register("old", kind: .courier, device: "tablet", expires: 1)
        try await test.register("bb", user: TestStore.bob)
        try await test.register("browser", kind: .webPush)
        try await test.register("refused", device: "tv")
        #expect(try await logged(by: "phone").isEmpty, "no other device can be sent to")
        try await test.register("cc", device: "watch")
        #expect(try await logged(by: "phone", limit: 0).isEmpty, "too many pushes wait")
        #expect(try await test.storedSubscriptions().count == 1)
        #expect(try await logged(by: "phone") == ["s"])
        #expect(try await test.storedSubscriptions().isEmpty)

        _ = try await test.subscribe(noteSubscription("t", options: options), hasReader: false)
        try await test.register("page", kind: .courier, device: "page")
        #expect(try await logged(by: "page", limit: 0).isEmpty, "the only reader made the change")
        #expect(try await logged(by: "phone", limit: 0) == ["t"])
        #expect(try await test.storedSubscriptions().isEmpty)
      }
    }

    @Test("to a user for whom too many wait, until some are through", arguments: engines)
    func userLimit(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        for user in [TestStore.alice, TestStore.bob] {
          _ = try await test.subscribe(noteSubscription("s"), as: user)
        }
        for token in ["one", "two"] { try await test.register(token) }
        try await test.register("bob", user: TestStore.bob)
        let backlogs = UserBacklogs(limit: 5)
        let first = try await notify(test, ["a", "b", "c", "d"], capacity(backlogs))
        #expect(first.logged.count == 8)
        // For Alice two notifications to two devices each, for Bob four.
        #expect(first.waiting.values.reduce(0, +) == 8)
        #expect(first.unsent.userLimit == 4)
        #expect(try await unsent(test, of: TestStore.alice) == .userLimit)
        #expect(try await unsent(test, of: TestStore.bob) == [])
        // A process that knows nothing yet asks the store; so does one whose counters are too high.
        let anew = try await notify(test, ["e"], capacity(UserBacklogs(limit: 5)))
        #expect(anew.unsent.userLimit == 2 && anew.waiting.values.reduce(0, +) == 1)
        let due = try await test.store.deliveries.dueDeliveries(at: TestStore.time(9), limit: 99)
        _ = try await test.store.deliveries.updateDeliveries(
          due.filter { $0.device.token == "one" }.map {
            DeliveryUpdate(id: $0.id, state: .delivered(), timestamp: TestStore.time(2))
          })
        let freed = try await notify(test, ["f"], capacity(UserBacklogs(limit: 5)))
        #expect(freed.unsent.userLimit == 1, "Bob has five")
        #expect(freed.waiting.values.reduce(0, +) == 2)
      }
    }

    @Test("to anybody when too many wait on the server", arguments: engines)
    func serverLimit(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s"))
        for token in ["one", "two"] { try await test.register(token) }
        let result = try await notify(test, ["a", "b"], capacity(unwritten: 3))
        #expect(result.logged.count == 2 && result.waiting.values.reduce(0, +) == 2)
        #expect(result.unsent.serverLimit == 2)
        #expect(try await unsent(test, of: TestStore.alice) == .serverLimit)
      }
    }

    /// The waiting deliveries of each user, counted plainly.
    private struct Model {
      let limit = 6
      let users = ["_user1", "_user2", "_user3"]
      /// A user has as many devices as the number in the name.
      var waiting = [0, 0, 0]

      /// A notification for each user. Answers how many deliveries are too many.
      mutating func notify() -> Int {
        var unsent = 0
        for index in users.indices {
          if waiting[index] + index + 1 <= limit {
            waiting[index] += index + 1
          } else {
            unsent += index + 1
          }
        }
        return unsent
      }

      mutating func deliver(to user: String) {
        if let index = users.firstIndex(of: user) { waiting[index] -= 1 }
      }
    }

    /// Some of the deliveries that wait have come to their devices.
    private func deliver(
      _ test: TestStore, _ random: inout SeededGenerator
    ) async throws -> [String] {
      let due = try await test.store.deliveries.dueDeliveries(at: TestStore.time(9), limit: 99)
      var updates: [DeliveryUpdate] = []
      var users: [String] = []
      for delivery in due {
        guard random.chance(1, in: 3) else { continue }
        users.append(delivery.device.userRecordName)
        updates.append(
          DeliveryUpdate(id: delivery.id, state: .delivered(), timestamp: TestStore.time(2)))
      }
      _ = try await test.store.deliveries.updateDeliveries(updates)
      return users
    }

    private func runRandomly(_ test: TestStore, seed: Int) async throws {
      var random = SeededGenerator(seed: seed)
      var model = Model()
      var backlogs = UserBacklogs(limit: model.limit)
      backlogs.begin(owed: 0)
      for (index, user) in model.users.enumerated() {
        _ = try await test.subscribe(noteSubscription("s"), as: user)
        for device in 0...index { try await test.register("\(user)-\(device)", user: user) }
      }
      for round in 0..<40 {
        // Another process, now and then.
        if random.chance(1, in: 8) { backlogs = UserBacklogs(limit: model.limit) }
        let result = try await notify(test, ["r\(round)"], capacity(backlogs))
        #expect(result.unsent.userLimit == model.notify(), "seed \(seed), round \(round)")
        for user in try await deliver(test, &random) { model.deliver(to: user) }
      }
    }

    @Test("are those beyond the limit, whoever counts", arguments: engines, Seeds.some(2))
    func random(_ engine: StoreEngine, _ seed: Int) async throws {
      try await engine.withStore { try await runRandomly($0, seed: seed) }
    }
  }
}
