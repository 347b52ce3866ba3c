import CloudKitModel
import PostgreSQLTesting
import SQLEngine
import Storage
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import ChangeDispatch

struct ServerWakeUpTests {
  /// A server with the store open, and a reader who waits there.
  private struct Server: Sendable {
    var world: DispatchWorld
    var running: RunningDispatcher
    var membership: ServerMembership
    var announced = Box<Set<String>>([])

    init(
      at location: StoreLocation, _ configure: (inout ServerMembership.Configuration) -> Void
    ) async throws {
      world = try await DispatchWorld(try await Store.open(at: location))
      running = RunningDispatcher(
        DispatchStore(world.store), servers: world.store.servers,
        configurePresence: { configuration in
          configuration.leaseTime = 3
          configuration.signInterval = 0.4
          // Without a notice nothing is looked for.
          configuration.idleTime = 3_600
          configuration.pollInterval = 3_600
          configuration.calmPollInterval = 3_600
          configure(&configuration)
        })
      membership = try #require(running.membership)
      membership.handlers = ServerMembership.Handlers(
        onServersGone: {},
        onAnnounced: { [announced] names in
          announced.value.withLock { $0.formUnion(names ?? []) }
        }, isListening: { true })
    }

    func stop() async {
      await running.dispatcher.stop()
      await membership.stop()
      await world.store.close()
    }
  }

  private struct Pair: Sendable {
    var first: Server
    var second: Server
    var schema: PostgreSQLServer.Schema

    /// Ends the connections on which notices are heard.
    func cutListeners() async throws {
      try await PostgreSQLServer.shared.execute(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%LISTEN petrel_'
          || (SELECT oid FROM pg_namespace WHERE nspname = '\(schema.name)') || '%'
          AND pid <> pg_backend_pid()
        """)
    }

    func untilBothHear() async throws {
      try await eventually("the servers hear each other") {
        [first, second].allSatisfy {
          $0.membership.metrics.servers == 2 && $0.membership.metrics.receivesNotifications
        }
      }
    }

    /// Has the second save what the first is to dispatch.
    func save(_ name: String, until isDone: () async throws -> Bool) async throws {
      try await second.world.save(name)
      try await eventually("the first dispatches \(name)", isDone)
      #expect(second.running.lines.isEmpty)
    }
  }

  private func withPair(
    _ configure: (inout ServerMembership.Configuration) -> Void = { _ in },
    _ body: (Pair) async throws -> Void
  ) async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    let location = StoreLocation.postgreSQL(try PostgreSQLAddress(schema.address), assets: nil)
    let pair = Pair(
      first: try await Server(at: location, configure),
      second: try await Server(at: location, configure), schema: schema)
    try await pair.untilBothHear()
    try await pair.first.world.subscribe(DispatchWorld.query("all"))
    try await pair.first.world.save("first")
    try await eventually("the first has the database") {
      pair.first.running.lines == ["all first"]
    }
    try await body(pair)
    await pair.first.stop()
    await pair.second.stop()
    try await PostgreSQLServer.shared.drop(schema)
  }

  @Test("a notice leads to word that was left, where nobody looks")
  func word() async throws {
    try await withPair { pair in
      for name in ["a", "b", "c"] {
        try await pair.save(name) { pair.first.running.lines.last == "all \(name)" }
      }
      #expect(pair.first.running.lines == ["all first", "all a", "all b", "all c"])
    }
  }

  @Test("word is found by looking as long as notices do not come, and by them as soon as they do")
  func lostConnection() async throws {
    func looking(_ configuration: inout ServerMembership.Configuration) {
      configuration.pollInterval = 0.05
    }
    try await withPair(looking) { pair in
      try await pair.cutListeners()
      try await eventually("the first does not hear") {
        !pair.first.membership.metrics.receivesNotifications
      }
      try await pair.save("a") {
        // It is not to have a connection again for long.
        try await pair.cutListeners()
        return pair.first.running.lines.last == "all a"
      }
      try await pair.untilBothHear()
      let looks = pair.first.membership.metrics.looks
      try await pair.save("b") { pair.first.running.lines.last == "all b" }
      #expect(pair.first.membership.metrics.looks > looks)
    }
  }

  @Test("readers at another server are told of notifications, where nobody looks")
  func announcements() async throws {
    try await withPair { pair in
      // The first server has learned that it may look, so nothing is left to announce to it.
      pair.first.announced.value.withLock { $0 = [] }
      pair.second.membership.announce(["_alice", "_bob"])
      try await eventually("the first has been told") {
        pair.first.announced.value.withLock { $0 } == ["_alice", "_bob"]
      }
      let many = Set((0..<900).map { "_subscriber-with-a-long-name-\($0)" })
      pair.second.membership.announce(many)
      try await eventually("the first has been told of more than a notice can have") {
        pair.first.announced.value.withLock { $0.isSuperset(of: many) }
      }
      #expect(pair.second.announced.value.withLock { $0 }.isEmpty)
    }
  }

  @Test("however many notices come, the store is asked only now and then")
  func flood() async throws {
    func slowly(_ configuration: inout ServerMembership.Configuration) {
      configuration.wakeUpGap = 0.5
      configuration.signInterval = 2
    }
    try await withPair(slowly) { pair in
      let membership = pair.first.membership
      let before = membership.metrics.looks
      var notices = 0
      try await eventually("the store was asked three times") {
        membership.take(.wakeUp)
        notices += 1
        return membership.metrics.looks >= before + 3
      }
      #expect(notices > 12)
    }
  }
}

struct NoticeHearingTests {
  private let one = ServerID(rawValue: 1)
  private let two = ServerID(rawValue: 2)
  private let start = ContinuousClock.now

  private func after(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

  @Test("is well when all have been heard of late, and nobody else counts")
  func all() {
    var heartbeats = HeartbeatRecord()
    #expect(!heartbeats.isComplete(of: [one], since: start))
    heartbeats.record(one, at: after(1))
    #expect(heartbeats.isComplete(of: [one], since: start))
    #expect(!heartbeats.isComplete(of: [one, two], since: start))
    heartbeats.record(two, at: after(2))
    #expect(heartbeats.isComplete(of: [one, two], since: after(1)))
    #expect(!heartbeats.isComplete(of: [one, two], since: after(1.5)))
    #expect(heartbeats.isComplete(of: [two], since: after(1.5)))
    heartbeats.keep([two])
    #expect(!heartbeats.isComplete(of: [one, two], since: start))
  }

  @Test("begins anew when the connection was lost")
  func interruption() {
    var heartbeats = HeartbeatRecord()
    heartbeats.record(one, at: after(1))
    heartbeats.interrupt()
    #expect(!heartbeats.isComplete(of: [one], since: start))
    heartbeats.record(one, at: after(2))
    #expect(heartbeats.isComplete(of: [one], since: start))
  }
}
