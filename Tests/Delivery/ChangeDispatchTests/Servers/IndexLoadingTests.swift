import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing
import Waiting

@testable import ChangeDispatch

struct IndexLoadingTests {
  private typealias World = DispatchWorld

  @Test("while a database's index loads others are dispatched; then its changes are, once each")
  func holdsNobodyUp() async throws {
    try await withWorld { world in
      let slow = world.publicID
      let other = try await world.store.databases.database(
        at: World.address(.private, owner: "_zoe"))
      for number in 0..<50 { try await world.subscribe(World.query("s\(number)")) }
      try await world.subscribe(World.query("good"), in: other)
      let gate = Gate()
      var hooks = DispatchHooks()
      hooks.beforeSubscriptionReading = { if $0 == slow { await gate.pass() } }
      let running = RunningDispatcher(hooks.around(world.store)) { $0.indexPieceSize = 7 }
      try await world.save("a")
      try await eventually("the index must be loading") { gate.arrived > 0 }
      for number in 0..<5 { try await world.save("o\(number)", in: other) }
      try await eventually("the other database must be dispatched") { running.lines.count == 5 }
      // What happens meanwhile counts as if the index had been there.
      _ = try await world.store.subscriptions.modifySubscriptions(
        [.delete(subscriptionID: "s0"), .delete(subscriptionID: "s49")], of: World.alice, in: slow,
        timestamp: World.start)
      try await world.subscribe(World.query("late"))
      try await world.save("b")
      #expect(running.lines == (0..<5).map { "good o\($0)" })
      gate.open()
      await running.dispatcher.settled()
      await running.dispatcher.stop()
      let log = try await world.log().filter { !$0.hasPrefix("good") }
      let steady = (1..<49).map { "s\($0)" }
      #expect(
        Set(log) == Set(steady.map { "\($0) a" } + steady.map { "\($0) b" } + ["late b"]))
      #expect(log.count == 48 + 49)
      #expect(running.dispatcher.metrics.indexLoads == 2)
    }
  }

  @Test("an index that could not be loaded to its end is loaded on from there")
  func loadsOn() async throws {
    try await withWorld { world in
      for number in 0..<40 { try await world.subscribe(World.query("s\(number)")) }
      let calls = Box(0)
      var hooks = DispatchHooks()
      hooks.beforeSubscriptionReading = { _ in
        let call = calls.value.withLock { count in
          count += 1
          return count
        }
        if call == 5 { throw StoreError(.statementFailed, "on purpose") }
      }
      let running = RunningDispatcher(hooks.around(world.store)) { $0.indexPieceSize = 5 }
      try await world.save("a")
      await running.dispatcher.settled()
      #expect(running.lines.count == 40)
      #expect(running.dispatcher.metrics.failures == 1)
      // Eight pieces, one of them twice.
      #expect(calls.value.withLock { $0 } == 9)
      await running.dispatcher.stop()
    }
  }

  @Test("an index is compared with the store only for a change that knows newer subscriptions")
  func comparison() async throws {
    try await withWorld { world in
      let calls = Box(0)
      var hooks = DispatchHooks()
      hooks.beforeSubscriptionReading = { _ in calls.value.withLock { $0 += 1 } }
      let running = RunningDispatcher(hooks.around(world.store))
      var lines: Set<String> = []
      func save(_ name: String, firing subscriptions: [String]) async throws {
        try await world.save(name)
        await running.dispatcher.settled()
        for subscription in subscriptions { lines.insert("\(subscription) \(name)") }
        #expect(Set(try await world.log()) == lines)
      }
      try await world.subscribe(World.query("first"))
      try await save("a", firing: ["first"])
      let after = calls.value.withLock { $0 }
      try await save("b", firing: ["first"])
      #expect(calls.value.withLock { $0 } == after)
      try await world.subscribe(World.query("second"))
      try await save("c", firing: ["first", "second"])
      #expect(calls.value.withLock { $0 } == after + 1)
      _ = try await world.store.subscriptions.modifySubscriptions(
        [.delete(subscriptionID: "first")], of: World.alice, in: world.publicID,
        timestamp: World.start)
      try await save("d", firing: ["second"])
      await running.dispatcher.stop()
    }
  }

  @Test("a subscription that is deleted before the transaction of a change does not fire for it")
  func deletionBeforeTransaction() async throws {
    try await withWorld { world in
      let gate = Gate()
      var hooks = DispatchHooks()
      hooks.beforeCompletion = { changes in
        if changes.contains(where: { $0.entry.change.record?.recordID.recordName == "b" }) {
          await gate.pass()
        }
      }
      let running = RunningDispatcher(hooks.around(world.store))
      for name in ["kept", "deleted", "replaced"] { try await world.subscribe(World.query(name)) }
      try await world.save("a")
      await running.dispatcher.settled()
      try await world.save("b")
      try await eventually("the change is matched") { gate.arrived == 1 }
      _ = try await world.store.subscriptions.modifySubscriptions(
        [.delete(subscriptionID: "deleted"), .delete(subscriptionID: "replaced")],
        of: World.alice, in: world.publicID, timestamp: World.start)
      try await world.subscribe(World.query("replaced"))
      gate.open()
      await running.dispatcher.settled()
      await running.dispatcher.stop()
      #expect(
        Set(try await world.log()) == ["kept a", "deleted a", "replaced a", "kept b"])
    }
  }

  @Test("indexes are given up for others and made again", arguments: [1, 1 << 30])
  func givesUp(bytes: Int) async throws {
    try await withWorld { world in
      let other = try await world.store.databases.database(
        at: World.address(.private, owner: "_zoe"))
      try await world.subscribe(World.query("a"))
      try await world.subscribe(World.query("b"), in: other)
      let running = RunningDispatcher(DispatchStore(world.store)) { $0.indexBytes = bytes }
      for round in 0..<4 {
        try await world.save("a\(round)")
        await running.dispatcher.settled()
        try await world.save("b\(round)", in: other)
        await running.dispatcher.settled()
      }
      let metrics = running.dispatcher.metrics
      #expect(metrics.indexLoads == (bytes == 1 ? 8 : 2))
      #expect(metrics.indexEvictions == (bytes == 1 ? 7 : 0))
      #expect(metrics.indexes == (bytes == 1 ? 1 : 2))
      #expect(metrics.indexBytes > 8_000 && metrics.indexLoadSeconds > 0)
      #expect(running.lines.count == 8)
      await running.dispatcher.stop()
    }
  }

  @Test(
    "nothing fires twice or not at all while subscriptions come and go and indexes with them",
    arguments: Seeds.some(6))
  func underFire(seed: Int) async throws {
    var random = SeededGenerator(seed: seed)
    let pieceSize = Int.random(in: 1...20, using: &random)
    let batchSize = Int.random(in: 1...6, using: &random)
    let firingLimit = Int.random(in: 1...40, using: &random)
    let bytes = random.pick([1, 30_000, 1 << 30])
    try await withWorld(inFile: seed.isMultiple(of: 2)) { world in
      var histories: [FiringBounds] = []
      for number in 0..<3 {
        let database = try await world.store.databases.database(
          at: World.address(.private, owner: "_owner\(number)"))
        var history = FiringBounds(number: number, database: database, seed: seed)
        for _ in 0..<60 { try await history.subscribe(in: world) }
        histories.append(history)
      }
      let running = RunningDispatcher(DispatchStore(world.store)) {
        $0.indexPieceSize = pieceSize
        $0.batchSize = batchSize
        $0.firingLimit = firingLimit
        $0.indexBytes = bytes
      }
      histories = try await withThrowingTaskGroup(of: FiringBounds.self) { group in
        for history in histories {
          group.addTask {
            var history = history
            for _ in 0..<60 {
              try await history.step(in: world)
              // Who only asks is in nobody's way.
              _ = try await running.dispatcher.subscriptions(
                fitting: Self.example, in: history.database, atMost: 5)
            }
            return history
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      await running.dispatcher.settled()
      await running.dispatcher.stop()
      #expect(running.dispatcher.metrics.failures == 0)
      let log = try await world.log()
      #expect(Set(log).count == log.count, "seed \(seed): something fired twice")
      for history in histories {
        let own = Set(log.filter { $0.hasPrefix("\(history.number)-") })
        #expect(
          history.mustFire.subtracting(own).isEmpty, "seed \(seed): something did not fire")
        #expect(
          own.subtracting(history.mayFire).isEmpty, "seed \(seed): something fired that must not")
      }
    }
  }

  private static let example = Change(
    event: .recordCreated, zoneID: .default,
    record: Record(
      recordID: RecordID(recordName: "x"), recordType: "Note", fields: ["a": .int64(3)]),
    notificationID: UUID(), timestamp: World.start)

  /// The operations of one writer on a database, with the notifications that must and that may
  /// result.
  ///
  /// A change is matched some time after its commit. A subscription that was deleted in between may
  /// fire or not. One that was replaced may fire with the old content or the new.
  struct FiringBounds: Sendable {
    let number: Int
    let database: DatabaseID
    private(set) var mustFire: Set<String> = []
    private(set) var mayFire: Set<String> = []
    private var active: [String: Subscription] = [:]
    private var records: [Record] = []
    /// How many records there were when a subscription was first saved.
    private var firstSaves: [String: Int] = [:]
    private var random: SeededGenerator

    init(number: Int, database: DatabaseID, seed: Int) {
      self.number = number
      self.database = database
      random = SeededGenerator(seed: seed * 17 + number)
    }

    mutating func step(in world: DispatchWorld) async throws {
      switch Int.random(in: 0..<5, using: &random) {
      case 0: try await subscribe(in: world)
      case 1: try await unsubscribe(in: world)
      default: try await save(in: world)
      }
    }

    mutating func subscribe(in world: DispatchWorld) async throws {
      let name = "\(number)-s\(Int.random(in: 0..<90, using: &random))"
      let filter = Filter(
        .field("a"), random.pick([.equals, .lessThan, .notEquals]),
        .int64(Int64.random(in: 0..<6, using: &random)))
      let subscription = DispatchWorld.query(
        name, filters: Bool.random(using: &random) ? [filter] : [],
        options: .firesOnRecordCreation)
      forget(name)
      try await world.subscribe(subscription, in: database)
      active[name] = subscription
      let first = firstSaves[name] ?? records.count
      firstSaves[name] = first
      for record in records[first...] where Self.fires(subscription, on: record) {
        mayFire.insert("\(name) \(record.recordID.recordName)")
      }
    }

    private mutating func unsubscribe(in world: DispatchWorld) async throws {
      guard let name = active.keys.sorted().randomElement(using: &random) else { return }
      forget(name)
      active[name] = nil
      firstSaves[name] = nil
      _ = try await world.store.subscriptions.modifySubscriptions(
        [.delete(subscriptionID: name)], of: DispatchWorld.alice, in: database,
        timestamp: DispatchWorld.start)
    }

    private mutating func forget(_ name: String) {
      mustFire = mustFire.filter { !$0.hasPrefix(name + " ") }
    }

    private mutating func save(in world: DispatchWorld) async throws {
      let name = "r\(number)-\(records.count)"
      let value = Int64.random(in: 0..<6, using: &random)
      let record = Record(
        recordID: RecordID(recordName: name), recordType: "Note", fields: ["a": .int64(value)])
      let fired = active.values.filter { Self.fires($0, on: record) }
      mustFire.formUnion(fired.map { "\($0.subscriptionID) \(name)" })
      mayFire.formUnion(fired.map { "\($0.subscriptionID) \(name)" })
      records.append(record)
      try await world.save(name, ["a": .int64(value)], in: database)
    }

    private static func fires(_ subscription: Subscription, on record: Record) -> Bool {
      guard case .query(let query, _, _) = subscription.kind else { return false }
      return query.matches(record)
    }
  }
}
