import CloudKitModel
import StoreModel
import Testing
import Waiting

@testable import ChangeDispatch

struct DispatcherTests {
  private typealias World = DispatchWorld

  /// Commits with `commit`, dispatches, and answers what was logged.
  private func logged(
    _ world: DispatchWorld, _ commit: () async throws -> Void
  ) async throws -> [String] {
    let running = RunningDispatcher(DispatchStore(world.store))
    try await commit()
    try await eventually("the outbox must become empty") { try await world.isDispatched }
    await running.dispatcher.stop()
    let log = try await world.readLog()
    #expect(running.lines.sorted() == log.sorted(), "what was reported is what was logged")
    return log
  }

  @Test("a query subscription fires on the events that it names")
  func events() async throws {
    try await withWorld { world in
      try await world.subscribe(World.query("c", options: .firesOnRecordCreation))
      try await world.subscribe(World.query("u", options: .firesOnRecordUpdate))
      try await world.subscribe(World.query("d", options: .firesOnRecordDeletion))
      try await world.subscribe(
        World.query("cd", options: [.firesOnRecordCreation, .firesOnRecordDeletion]))
      let log = try await logged(world) {
        try await world.save("n", ["a": .int64(1)])
        try await world.save("n", ["a": .int64(2)])
        try await world.delete("n")
      }
      #expect(log.sorted() == ["c n", "cd n", "cd n", "d n", "u n"])
    }
  }

  @Test("filters see the new values of a save and the last ones of a deletion")
  func filters() async throws {
    try await withWorld { world in
      let big = [Filter(.field("a"), .greaterThan, .int64(5))]
      try await world.subscribe(World.query("big", filters: big))
      try await world.subscribe(World.query("other", type: "Other"))
      let log = try await logged(world) {
        try await world.save("small", ["a": .int64(1)])
        try await world.save("grows", ["a": .int64(1)])
        try await world.save("grows", ["a": .int64(9)])
        try await world.save("shrinks", ["a": .int64(9)])
        try await world.save("shrinks", ["a": .int64(1)])
        try await world.delete("grows")
        try await world.delete("shrinks")
      }
      #expect(log == ["big grows", "big shrinks", "big grows"])
    }
  }

  @Test("zones: a query's zone, a record-zone subscription, a database subscription, and types")
  func zones() async throws {
    try await withWorld { world in
      try await world.makeZone("A")
      try await world.makeZone("B")
      for subscription in [
        World.query("everywhere"), World.query("in-default", zone: ZoneID.defaultZoneName),
        World.query("in-A", zone: "A"),
        Subscription(
          subscriptionID: "zone-A",
          kind: .recordZone(ZoneID(zoneName: "A"), recordType: nil)),
        Subscription(
          subscriptionID: "zone-A-others",
          kind: .recordZone(ZoneID(zoneName: "A"), recordType: "Other")),
        Subscription(subscriptionID: "database", kind: .database(recordType: nil)),
        Subscription(subscriptionID: "database-others", kind: .database(recordType: "Other")),
      ] {
        try await world.subscribe(subscription, in: world.privateID)
      }
      let log = try await logged(world) {
        try await world.save("d", in: world.privateID)
        try await world.save("a", zone: "A", in: world.privateID)
        try await world.save("o", type: "Other", zone: "A", in: world.privateID)
        try await world.delete("a", zone: "A", in: world.privateID)
        try await world.save("b", zone: "B", in: world.privateID)
      }
      #expect(
        log.sorted()
          == [
            "everywhere d", "in-default d",
            "everywhere a", "in-A a", "zone-A a", "database a",
            "zone-A o", "zone-A-others o", "database o", "database-others o",
            "everywhere a", "in-A a", "zone-A a", "database a",
            "everywhere b", "database b",
          ].sorted())
    }
  }

  @Test("making and deleting a zone fires database subscriptions")
  func zoneEvents() async throws {
    try await withWorld { world in
      try await world.subscribe(
        Subscription(subscriptionID: "database", kind: .database(recordType: nil)),
        in: world.privateID)
      try await world.subscribe(World.query("query"), in: world.privateID)
      let log = try await logged(world) {
        try await world.makeZone("A")
        try await world.modifyZones([.delete(ZoneID(zoneName: "A"))])
      }
      #expect(log == ["database", "database"])
    }
  }

  @Test("subscriptions of several users fire on one change with one notification ID")
  func severalUsers() async throws {
    try await withWorld { world in
      try await world.register("bob-reader", kind: .courier, user: World.bob)
      try await world.subscribe(World.query("s"), as: World.alice)
      try await world.subscribe(World.query("s"), as: World.bob)
      let running = RunningDispatcher(DispatchStore(world.store))
      try await world.save("n")
      try await eventually("both must fire") { running.lines.count == 2 }
      await running.dispatcher.stop()
      let alice = try await world.store.courier.courierEntries(
        forToken: World.reader, after: CourierPosition(), limit: 1
      ).first
      let bob = try await world.store.courier.courierEntries(
        forToken: "bob-reader", after: CourierPosition(), limit: 1
      ).first
      #expect(alice?.entry.notification.subscriber == World.alice)
      #expect(bob?.entry.notification.subscriber == World.bob)
      #expect(
        alice?.entry.notification.change.notificationID
          == bob?.entry.notification.change.notificationID)
    }
  }

  @Test("a subscription fires on what is committed after its save, also when dispatched late")
  func activeFromItsSave() async throws {
    try await withWorld { world in
      try await world.save("before")
      try await world.subscribe(World.query("s"))
      try await world.save("after")
      try await world.subscribe(World.query("late"))
      #expect(try await logged(world) {} == ["s after"])
    }
  }

  @Test("a subscription that was deleted before the dispatch does not fire")
  func deletedSubscription() async throws {
    try await withWorld { world in
      try await world.subscribe(World.query("s"))
      try await world.save("n")
      _ = try await world.store.subscriptions.modifySubscriptions(
        [.delete(subscriptionID: "s")], of: World.alice, in: world.publicID,
        timestamp: World.start)
      #expect(try await logged(world) {} == [])
    }
  }

  @Test("firesOnce fires once under many concurrent changes and is gone", arguments: [false, true])
  func firesOnce(inFile: Bool) async throws {
    try await withWorld(inFile: inFile) { world in
      try await world.subscribe(
        World.query("once", options: [.firesOnRecordCreation, .firesOnce]))
      try await world.subscribe(World.query("always", options: .firesOnRecordCreation))
      let log = try await logged(world) {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for index in 0..<200 { group.addTask { try await world.save("n\(index)") } }
          try await group.waitForAll()
        }
      }
      #expect(log.filter { $0.hasPrefix("once") }.count == 1)
      #expect(log.filter { $0.hasPrefix("always") }.count == 200)
      // In the log's order the first change is the one that fired it.
      let first = log.first { $0.hasPrefix("always") }?.dropFirst("always".count)
      #expect(log.first { $0.hasPrefix("once") }?.dropFirst("once".count) == first)
      let left = try await world.store.subscriptions.subscriptions(
        of: World.alice, in: world.publicID)
      #expect(left.map(\.subscriptionID) == ["always"])
    }
  }

  @Test("a firesOnce subscription that is saved again fires again")
  func firesOnceAgain() async throws {
    try await withWorld { world in
      let once = World.query("once", options: [.firesOnRecordCreation, .firesOnce])
      try await world.subscribe(once)
      try await world.save("a")
      #expect(try await logged(world) {} == ["once a"])
      try await world.save("between")
      try await world.subscribe(once)
      try await world.save("b")
      try await world.save("c")
      #expect(try await logged(world) {} == ["once b"])
    }
  }

  @Test("changes that fire nothing leave the outbox, too")
  func silentChanges() async throws {
    try await withWorld { world in
      try await world.subscribe(World.query("other", type: "Other"))
      let log = try await logged(world) {
        for index in 0..<20 { try await world.save("n\(index)") }
      }
      #expect(log == [])
    }
  }

  @Test("the index with room for one database serves many")
  func smallIndexCache() async throws {
    try await withWorld { world in
      var databases: [DatabaseID] = []
      for number in 0..<6 {
        let database = try await world.store.databases.database(
          at: World.address(.private, owner: "_owner\(number)"))
        databases.append(database)
        try await world.subscribe(World.query("s\(number)"), in: database)
      }
      let running = RunningDispatcher(DispatchStore(world.store)) {
        $0.indexBytes = 1
        $0.batchSize = 2
      }
      for round in 0..<5 {
        for (number, database) in databases.enumerated() {
          try await world.save("r\(round)", in: database)
          if round == 2 { try await world.subscribe(World.query("t\(number)"), in: database) }
        }
      }
      try await eventually("the outbox must become empty") { try await world.isDispatched }
      await running.dispatcher.stop()
      for number in databases.indices {
        #expect(
          running.lines.filter { $0.hasPrefix("s\(number) ") }
            == (0..<5).map { "s\(number) r\($0)" })
        #expect(
          running.lines.filter { $0.hasPrefix("t\(number) ") }
            == (3..<5).map { "t\(number) r\($0)" })
      }
    }
  }
}
