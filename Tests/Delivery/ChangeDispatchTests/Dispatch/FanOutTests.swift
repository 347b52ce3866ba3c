import CloudKitModel
import PropertyTesting
import Storage
import StoreModel
import Testing
import Waiting

@testable import ChangeDispatch

struct FanOutTests {
  private typealias World = DispatchWorld

  @Test("each subscription has its log entry, in transactions of bounded size")
  func bounded() async throws {
    try await withWorld { world in
      try await Self.subscribe(250, in: world)
      let sizes = Box<[Int]>([])
      var hooks = DispatchHooks()
      hooks.beforeCompletion = { changes in
        sizes.value.withLock { $0.append(changes.map(\.firings.count).reduce(0, +)) }
      }
      let running = RunningDispatcher(hooks.around(world.store)) { $0.firingLimit = 40 }
      try await world.save("a")
      try await world.save("b")
      await running.dispatcher.settled()
      await running.dispatcher.stop()
      let names = Self.names(250)
      #expect(running.lines == names.map { "\($0) a" } + names.map { "\($0) b" })
      #expect(sizes.value.withLock { $0.allSatisfy { $0 <= 40 } && $0.reduce(0, +) == 500 })
      #expect(try await world.log() == running.lines)
    }
  }

  @Test("the notifications of a transaction are encoded before it is handed to the store")
  func prepares() async throws {
    try await withWorld { world in
      try await Self.subscribe(30, in: world)
      let arePrepared = Box<[Bool]>([])
      var hooks = DispatchHooks()
      hooks.beforeCompletion = { changes in
        arePrepared.value.withLock { $0 += changes.map { $0.preparedBytes != nil } }
      }
      let running = RunningDispatcher(hooks.around(world.store)) { $0.firingLimit = 7 }
      try await world.save("a")
      await running.dispatcher.settled()
      await running.dispatcher.stop()
      #expect(arePrepared.value.withLock { $0 } == [true, true, true, true, true])
    }
  }

  @Test("another database is dispatched meanwhile")
  func holdsNobodyUp() async throws {
    try await withWorld { world in
      let other = try await world.store.databases.database(
        at: World.address(.private, owner: "_zoe"))
      try await Self.subscribe(100, in: world)
      try await world.subscribe(World.query("good"), in: other)
      let gate = Gate()
      var hooks = DispatchHooks()
      hooks.beforeCompletion = { changes in
        if let entry = changes.first?.entry, entry.settledThrough != nil { await gate.pass() }
      }
      let running = RunningDispatcher(hooks.around(world.store)) { $0.firingLimit = 30 }
      try await world.save("a")
      try await eventually("the first part must be there") { gate.arrived == 1 }
      #expect(running.lines.count == 30)
      try await world.save("o", in: other)
      try await eventually("the other must fire") { running.lines.last == "good o" }
      gate.open()
      await running.dispatcher.settled()
      await running.dispatcher.stop()
      #expect(running.lines.count == 101)
    }
  }

  @Test("stop does not wait for all of it; the next dispatcher goes on where it was")
  func stops() async throws {
    try await withWorld { world in
      try await Self.subscribe(100, in: world)
      let gate = Gate()
      var hooks = DispatchHooks()
      hooks.beforeCompletion = { changes in
        if let entry = changes.first?.entry, entry.settledThrough != nil { await gate.pass() }
      }
      let first = RunningDispatcher(hooks.around(world.store)) { $0.firingLimit = 30 }
      try await world.save("a")
      try await eventually("the first part must be there") { gate.arrived == 1 }
      async let stopped: Void = first.dispatcher.stop()
      try await eventually("it must be stopping") { first.dispatcher.handover.isStopped }
      gate.open()
      await stopped
      #expect(first.lines.count == 60)
      let entry = try await world.store.outbox.undispatchedChanges(
        in: .whole(world.publicID), after: 0, limit: 2
      ).first
      #expect(entry?.settledThrough?.subscriptionID == Self.names(100)[59])

      // What is saved and deleted meanwhile: the settled part is over, the rest follows it.
      try await world.subscribe(World.query("s000"))
      try await world.subscribe(World.query("s0995"))
      _ = try await world.store.subscriptions.modifySubscriptions(
        [.delete(subscriptionID: "s010"), .delete(subscriptionID: "s080")], of: World.alice,
        in: world.publicID, timestamp: World.start)
      let second = RunningDispatcher(DispatchStore(world.store)) { $0.firingLimit = 7 }
      await second.dispatcher.settled()
      await second.dispatcher.stop()
      let log = try await world.log()
      #expect(log == Self.names(100).filter { $0 != "s080" }.map { "\($0) a" })
    }
  }

  enum Failure: String, CaseIterable, Sendable { case before, after }

  @Test(
    "whatever fails, each subscription is logged once for each change, in the order of the changes",
    arguments: Seeds.some(3), Failure.allCases)
  func fails(seed: Int, failure: Failure) async throws {
    var random = SeededGenerator(seed: seed)
    let firingLimit = Int.random(in: 1...25, using: &random)
    let batchSize = Int.random(in: 1...4, using: &random)
    try await withWorld(inFile: seed.isMultiple(of: 2)) { world in
      try await Self.subscribe(40, in: world)
      for number in 0..<10 {
        try await world.subscribe(
          World.query("s00\(number)-once", options: [.firesOnRecordCreation, .firesOnce]))
      }
      let chances = Box((left: 3, random: SeededGenerator(seed: seed + 100)))
      let fail: @Sendable ([MatchedChange]) throws -> Void = { _ in
        let fails = chances.value.withLock { chances in
          guard chances.left > 0, Int.random(in: 0..<3, using: &chances.random) == 0 else {
            return false
          }
          chances.left -= 1
          return true
        }
        if fails { throw StoreError(.statementFailed, "on purpose") }
      }
      var hooks = DispatchHooks()
      switch failure {
      case .before: hooks.beforeCompletion = fail
      case .after: hooks.afterCompletion = fail
      }
      let running = RunningDispatcher(hooks.around(world.store)) {
        $0.firingLimit = firingLimit
        $0.batchSize = batchSize
        $0.indexPieceSize = 9
      }
      for number in 0..<6 { try await world.save("r\(number)") }
      await running.dispatcher.settled()
      await running.dispatcher.stop()
      let log = try await world.log()
      let once = log.filter { $0.contains("once") }
      #expect(once.sorted() == (0..<10).map { "s00\($0)-once r0" }, "seed \(seed), \(failure)")
      #expect(
        log.filter { !$0.contains("once") }
          == (0..<6).flatMap { number in Self.names(40).map { "\($0) r\(number)" } },
        "seed \(seed), \(failure)")
    }
  }

  private static func names(_ count: Int) -> [String] {
    (0..<count).map { "s" + String(1_000 + $0).dropFirst() }
  }

  private static func subscribe(_ count: Int, in world: DispatchWorld) async throws {
    _ = try await world.store.subscriptions.modifySubscriptions(
      names(count).map { .save(World.query($0, options: .firesOnRecordCreation)) },
      of: World.alice, in: world.publicID, timestamp: World.start)
  }
}
