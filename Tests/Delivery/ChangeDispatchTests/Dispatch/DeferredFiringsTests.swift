import CloudKitModel
import PropertyTesting
import Storage
import StoreModel
import Testing
import Waiting

@testable import ChangeDispatch
@testable import Matching

/// A subscriber with very many firings beside one with few.
struct DeferredFiringsTests {
  private typealias World = DispatchWorld

  private static func subscribe(_ count: Int, in world: DispatchWorld) async throws {
    for number in 0..<count { try await world.subscribe(World.query("s\(number)")) }
    try await world.subscribe(World.query("other"), as: World.bob)
  }

  private static func expected(_ count: Int, _ names: [String]) -> [String] {
    names.flatMap { name in (0..<count).map { "s\($0) \(name)" }.sorted() }
  }

  @Test("the other's notifications come first, and each log is in order")
  func others() async throws {
    try await withWorld { world in
      try await Self.subscribe(9, in: world)
      let names = (0..<20).map { "r\($0)" }
      for name in names { try await world.save(name) }
      let gate = Gate()
      var hooks = DispatchHooks()
      hooks.beforeCompletion = { if $0.first?.entry.deferral != nil { await gate.pass() } }
      let running = RunningDispatcher(hooks.around(world.store)) {
        $0.firingsOfSubscriber = 20
        $0.firingLimit = 30
        $0.deferredBatchSize = 7
      }
      try await eventually("nothing else is left to do") { gate.arrived == 1 }
      // Firings count from the change on with which all of them exceed the limit.
      let before = running.lines
      #expect(before.filter { $0.hasPrefix("other") } == names.map { "other \($0)" })
      #expect(before.filter { $0.hasPrefix("s") } == Self.expected(9, ["r0", "r1", "r2", "r3"]))
      #expect(running.dispatcher.metrics.deferredSubscribers == 1)
      #expect(try await !world.isDispatched)
      gate.open()
      await running.dispatcher.settled()
      #expect(try await world.isDispatched)
      #expect(running.dispatcher.metrics.deferredSubscribers == 0)
      try await world.save("last")
      await running.dispatcher.settled()
      await running.dispatcher.stop()
      #expect(try await world.log() == Self.expected(9, names + ["last"]))
      #expect(running.dispatcher.metrics.skippedChanges == 0)
      #expect(running.dispatcher.metrics.failures == 0)
    }
  }

  @Test("changes that come meanwhile do not wait for them")
  func meanwhile() async throws {
    try await withWorld { world in
      try await Self.subscribe(9, in: world)
      for number in 0..<9 { try await world.save("r\(number)") }
      let saved = Box(0)
      var hooks = DispatchHooks()
      // While the deferred firings are logged, a change comes with each transaction.
      hooks.beforeCompletion = { changes in
        guard changes.first?.entry.deferral != nil else { return }
        let number = saved.value.withLock {
          $0 += 1
          return $0
        }
        if number <= 5 { try await world.save("t\(number)") }
      }
      let order = Box<[String]>([])
      hooks.afterCompletion = { changes in
        let kind = changes.first?.entry.deferral == nil ? "all" : "deferred"
        order.value.withLock { if $0.last != kind { $0.append(kind) } }
      }
      let running = RunningDispatcher(hooks.around(world.store)) {
        $0.firingsOfSubscriber = 9
        $0.firingLimit = 5
      }
      try await eventually("all are dispatched") {
        guard saved.value.withLock({ $0 }) > 5 else { return false }
        return try await world.isDispatched
      }
      await running.dispatcher.stop()
      // They take turns.
      #expect(order.value.withLock { $0.filter { $0 == "all" }.count } >= 5)
      let names = (0..<9).map { "r\($0)" } + (1...5).map { "t\($0)" }
      #expect(try await world.log() == Self.expected(9, names))
      #expect(running.lines.filter { $0.hasPrefix("other") } == names.map { "other \($0)" })
    }
  }

  @Test("the next dispatcher logs what is left", arguments: [false, true])
  func restart(hasNewChange: Bool) async throws {
    try await withWorld { world in
      try await Self.subscribe(9, in: world)
      var names = (0..<9).map { "r\($0)" }
      for name in names { try await world.save(name) }
      var hooks = DispatchHooks()
      hooks.afterCompletion = { changes in
        if changes.first?.entry.deferral != nil { throw StoreError(.unreachable, "for a test") }
      }
      let running = RunningDispatcher(hooks.around(world.store)) {
        $0.firingsOfSubscriber = 9
        $0.firingLimit = 5
      }
      try await eventually("a part of them is logged") { running.dispatcher.metrics.failures > 1 }
      await running.dispatcher.stop()
      #expect(try await world.store.outbox.undispatchedDatabases() == [world.publicID])
      if hasNewChange {
        try await world.save("new")
        names.append("new")
      }
      let next = RunningDispatcher(DispatchStore(world.store))
      try await eventually("all are dispatched") { try await world.isDispatched }
      await next.dispatcher.stop()
      #expect(try await world.log() == Self.expected(9, names))
    }
  }

  @Test("of more than the log keeps only the newest are logged, and firesOnce fires all the same")
  func newest() async throws {
    let configure: (inout StoreConfiguration) -> Void = { $0.notificationLog.entries = 20 }
    try await withWorld(configure: configure) { world in
      try await Self.subscribe(9, in: world)
      try await world.subscribe(World.query("t", options: [.firesOnRecordCreation, .firesOnce]))
      let names = (0..<40).map { "r\($0)" }
      for name in names { try await world.save(name) }
      let running = RunningDispatcher(DispatchStore(world.store)) { $0.firingsOfSubscriber = 45 }
      await running.dispatcher.settled()
      await running.dispatcher.stop()
      try await world.store.maintenance.trim(at: World.start)
      #expect(try await world.log() == Self.expected(9, names).suffix(20))
      #expect(running.dispatcher.metrics.skippedChanges > 25)
      #expect(running.lines.filter { $0.hasPrefix("t ") } == ["t r0"])
      #expect(
        try await world.store.subscriptions.subscriptions(of: World.alice, in: world.publicID).count
          == 9)
      #expect(running.lines.filter { $0.hasPrefix("other") } == names.map { "other \($0)" })
    }
  }

  @Test("a subscriber whose predicates take long to match is deferred, even if they do not fire")
  func costly() async throws {
    try await withWorld { world in
      for number in 0..<9 {
        try await world.subscribe(
          World.query(
            "never\(number)",
            filters: [
              Filter(
                .field("a"), .notIn, .list(of: .int64, [.int64(1), .int64(10 + Int64(number))]))
            ]))
      }
      try await world.subscribe(World.query("s"))
      try await world.subscribe(World.query("other"), as: World.bob)
      let names = (0..<30).map { "r\($0)" }
      for name in names { try await world.save(name, ["a": .int64(1)]) }
      let gate = Gate()
      var hooks = DispatchHooks()
      hooks.beforeCompletion = { if $0.first?.entry.deferral != nil { await gate.pass() } }
      let running = RunningDispatcher(hooks.around(world.store)) { $0.costOfSubscriber = 200 }
      try await eventually("nothing else is left to do") { gate.arrived == 1 }
      // The costs of the first group, of eight changes, exceed the limit: from then on they are counted.
      let before = running.lines
      #expect(before.filter { $0.hasPrefix("other") } == names.map { "other \($0)" })
      #expect(before.filter { $0.hasPrefix("s") } == names.prefix(8).map { "s \($0)" })
      #expect(running.dispatcher.metrics.deferredSubscribers == 1)
      gate.open()
      await running.dispatcher.settled()
      await running.dispatcher.stop()
      #expect(try await world.log() == names.map { "s \($0)" })
      #expect(running.dispatcher.metrics.failures == 0)
    }
  }

  @Test("of more changes than may wait for a subscriber only the newest are logged")
  func givenUp() async throws {
    try await withWorld { world in
      try await Self.subscribe(9, in: world)
      let names = (0..<40).map { "r\($0)" }
      for name in names { try await world.save(name) }
      let running = RunningDispatcher(DispatchStore(world.store)) {
        $0.firingsOfSubscriber = 45
        $0.deferredChanges = 10
        $0.deferredBatchSize = 4
      }
      await running.dispatcher.settled()
      await running.dispatcher.stop()
      let logged = names.prefix(9) + names.suffix(10)
      #expect(try await world.log() == Self.expected(9, Array(logged)))
      #expect(running.dispatcher.metrics.givenUpChanges == 21)
      #expect(running.lines.filter { $0.hasPrefix("other") } == names.map { "other \($0)" })
      #expect(try await world.isDispatched)
    }
  }

  @Test("a transaction has notifications of a limited size")
  func bytes() async throws {
    try await withWorld { world in
      for number in 0..<8 {
        var subscription = World.query("s\(number)")
        var info = NotificationInfo()
        info.alertBody = String(repeating: "\(number)", count: 1_000)
        subscription.notificationInfo = info
        try await world.subscribe(subscription)
      }
      let sizes = Box<[Int]>([])
      var hooks = DispatchHooks()
      hooks.beforeCompletion = { changes in
        sizes.value.withLock { $0.append(changes.map(\.firings.count).reduce(0, +)) }
      }
      let running = RunningDispatcher(hooks.around(world.store)) { $0.byteLimit = 2_500 }
      try await world.save("a")
      await running.dispatcher.settled()
      await running.dispatcher.stop()
      #expect(sizes.value.withLock { $0 } == [3, 3, 2])
      #expect(try await world.log() == Self.expected(8, ["a"]))
    }
  }

  @Test("a subscriber is deferred whose matching costs more than the limit, in a crowd earlier")
  func cost() {
    func costs(_ costs: KeyValuePairs<UInt32, Int>) -> MatchingCosts {
      var sum = MatchingCosts(bySubscriber: true)
      for (number, cost) in costs { sum.add(cost, to: number) }
      return sum
    }
    var load = SubscriberLoad(deferring: SubscriberSet(), limit: 1, costLimit: 100)
    load.add(costs([1: 60, 2: 20]))
    #expect(load.deferCostly() == [])
    load.add(costs([1: 40, 2: 20]))
    #expect(load.deferCostly() == [])
    load.add(costs([1: 1]))
    #expect(load.deferCostly() == [1])
    #expect(load.deferCostly() == [])
    load.add(costs([2: 500]))
    #expect(load.deferCostly() == [2])
    // All together have more than eight times the limit.
    load.add(costs([3: 13, 4: 12, 5: 200]))
    #expect(Set(load.deferCostly()) == [3, 5])
  }

  @Test("a subscriber is deferred from the change on that exceeds the limit")
  func load() {
    var load = SubscriberLoad(deferring: SubscriberSet([7]), limit: 6, costLimit: 100)
    var deferred: Set<UInt32> { Set((0..<64).filter { load.deferred.contains($0) }) }
    /// Counts a change with these numbers of firings of each subscriber.
    func count(_ firings: KeyValuePairs<UInt32, Int>, isLarge: Bool = false) -> [UInt32] {
      load.count(firings.reduce(0) { $0 + $1.value }, isLarge: isLarge) { visit in
        for (number, count) in firings { visit(number, count) }
      }
    }
    #expect(count([1: 4, 2: 1]) == [])
    #expect(count([1: 7, 2: 2]) == [1])
    #expect(deferred == [1, 7])
    #expect(count([2: 4]) == [])
    #expect(count([2: 1]) == [2])
    // The notifications of a large change weigh more.
    #expect(count([3: 1], isLarge: true) == [3])
    #expect(deferred == [1, 2, 3, 7])
    // Many such subscribers together are deferred earlier, and those with few firings are not.
    load = SubscriberLoad(deferring: SubscriberSet(), limit: 16, costLimit: 100)
    #expect(count([1: 15, 2: 15, 3: 15]) == [])
    load = SubscriberLoad(deferring: SubscriberSet(), limit: 16, costLimit: 100)
    #expect(
      count([1: 15, 2: 15, 3: 15, 4: 15, 5: 15, 6: 15, 7: 15, 8: 15, 9: 15, 10: 2])
        == [1, 2, 3, 4, 5, 6, 7, 8, 9])
  }
}
