import CloudKitModel
import PostgreSQLTesting
import StoreModel
import Synchronization
import Testing

@testable import SQLEngine
@testable import Storage
@testable import StoreTools

struct PartitionTests {
  private static let users = (0..<20).map { "_user\($0)" }

  /// A shared store with a server, and a public database with a subscription of each user.
  private struct World: Sendable {
    var test: TestStore
    var servers: ClusterService
    var server: ServerID
    var other: ServerID

    var database: DatabaseID { test.publicID }

    func part(_ number: Int, of count: Int) -> DatabasePart {
      DatabasePart(database: database, number: number, count: count)
    }

    func take(_ part: DatabasePart, for server: ServerID? = nil) async throws {
      let lease = try #require(
        try await servers.dividedDatabases().first { $0.part == part })
      #expect(try await servers.lease(lease.free, to: server ?? self.server))
    }

    /// Dispatches what waits for a part, with plain matching.
    @discardableResult
    func dispatch(_ part: DatabasePart, atMost limit: Int = 100) async throws -> [String] {
      let subscriptions = try await test.store.subscriptions.subscriptionChanges(
        in: part, since: .beginning, limit: 1_000
      ).saved
      let changes = try await test.store.outbox.undispatchedChanges(
        in: part, after: .min, limit: limit
      )
      .map { entry in
        MatchedChange(
          entry: entry, firings: subscriptions.filter { $0.subscription.matches(entry.change) })
      }
      let result = try await test.store.outbox.completeDispatch(
        of: changes, timestamp: TestStore.time(0))
      return result.logged.map {
        "\($0.notification.subscriber) \($0.notification.change.record?.recordID.recordName ?? "")"
      }
    }

    var waiting: [String] {
      get async throws {
        try await test.outbox().compactMap { $0.change.record?.recordID.recordName }
      }
    }
  }

  private func withWorld(
    keeping history: ChangeHistoryLimits = ChangeHistoryLimits(),
    _ body: (World) async throws -> Void
  ) async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    var configuration = StoreConfiguration()
    configuration.changeHistory = history
    let store = try await Store.open(
      at: .postgreSQL(try PostgreSQLAddress(schema.address), assets: nil),
      configuration: configuration)
    let test = try await TestStore(store)
    for user in Self.users { _ = try await test.subscribe(noteSubscription("notes"), as: user) }
    let servers = try #require(store.servers)
    // The last that is registered is the one that this store commits as.
    let other = try await servers.registerServer("another", for: 60)
    let server = try await servers.registerServer("this", for: 60)
    try await body(World(test: test, servers: servers, server: server, other: other))
    await store.close()
    try await PostgreSQLServer.shared.drop(schema)
  }

  @Test("has each subscriber in one part", arguments: [1, 2, 3, 7, 64])
  func subscribers(count: Int) async throws {
    try await withWorld { world in
      var seen: [String] = []
      for number in 0..<count {
        let changes = try await world.test.store.subscriptions.subscriptionChanges(
          in: world.part(number, of: count), since: .beginning, limit: 3)
        var page = changes
        seen += page.saved.map(\.subscriber)
        while page.moreComing {
          page = try await world.test.store.subscriptions.subscriptionChanges(
            in: world.part(number, of: count), since: page.position, limit: 3)
          seen += page.saved.map(\.subscriber)
        }
      }
      #expect(seen.sorted() == Self.users.sorted())
    }
  }

  @Test("tells a part of the deletions of its subscribers alone")
  func deletions() async throws {
    try await withWorld { world in
      let parts = (0..<2).map { world.part($0, of: 2) }
      let position = try await world.test.store.subscriptions.subscriptionChanges(
        in: world.database
      ).position
      for user in Self.users {
        _ = try await world.test.store.subscriptions.modifySubscriptions(
          [.delete(subscriptionID: "notes")], of: user, in: world.database,
          timestamp: TestStore.time(0))
      }
      var deleted: [String] = []
      for part in parts {
        let changes = try await world.test.store.subscriptions.subscriptionChanges(
          in: part, since: position, limit: 1_000)
        #expect(!changes.deleted.isEmpty)
        deleted += changes.deleted.map(\.subscriber)
      }
      #expect(deleted.sorted() == Self.users.sorted())
    }
  }

  @Test("is changed at once where nothing waits, and behind the changes that wait otherwise")
  func dividing() async throws {
    try await withWorld { world in
      #expect(try await world.servers.partition(of: world.database) == Partition(parts: 1))
      #expect(
        try await world.servers.partition(world.database, into: 2) == Partition(parts: 2))
      for number in 0..<2 { try await world.take(world.part(number, of: 2)) }
      try await world.test.save("before")
      #expect(
        try await world.servers.partition(world.database, into: 3)
          == Partition(parts: 2, nextParts: 3))
      try await world.test.save("after")
      var logged = try await world.dispatch(world.part(0, of: 2))
      #expect(
        try await world.servers.partition(of: world.database)
          == Partition(parts: 2, nextParts: 3))
      logged += try await world.dispatch(world.part(1, of: 2))
      #expect(logged.sorted() == Self.users.map { "\($0) before" }.sorted())
      #expect(try await world.servers.partition(of: world.database) == Partition(parts: 3))
      #expect(try await world.waiting == ["after"])
      logged = []
      for number in 0..<3 {
        try await world.take(world.part(number, of: 3))
        logged += try await world.dispatch(world.part(number, of: 3))
      }
      #expect(logged.sorted() == Self.users.map { "\($0) after" }.sorted())
      #expect(try await world.waiting == [])
    }
  }

  @Test("that is asked for twice is the last one asked for")
  func twice() async throws {
    try await withWorld { world in
      try await world.test.save("a")
      for parts in [4, 1, 2] { try await world.servers.partition(world.database, into: parts) }
      try await world.dispatch(.whole(world.database))
      #expect(try await world.servers.partition(of: world.database) == Partition(parts: 2))
      #expect(try await world.servers.dividedDatabases().map(\.holder) == [nil, nil])
      #expect(
        try await world.servers.partition(world.database, into: 2) == Partition(parts: 2))
      #expect(
        try await world.servers.partition(world.database, into: 1) == Partition(parts: 1))
      #expect(try await world.servers.dividedDatabases() == [])
    }
  }

  @Test("gives a commit's changes to the parts of its server, and leaves word for the others")
  func committing() async throws {
    try await withWorld { world in
      try await world.servers.partition(world.database, into: 3)
      try await world.take(world.part(0, of: 3))
      try await world.take(world.part(2, of: 3))
      try await world.take(world.part(1, of: 3), for: world.other)
      let heard = Mutex<[DatabasePart]>([])
      let store = world.test.store
      store.outbox.setCommitHandler { entries in heard.withLock { $0 += entries.map(\.part) } }
      try await world.test.save("a")
      store.outbox.setCommitHandler(nil)
      #expect(heard.withLock { $0 } == [world.part(0, of: 3), world.part(2, of: 3)])
      #expect(try await world.servers.wakeUps(of: world.server) == WakeUps())
      #expect(
        try await world.servers.wakeUps(of: world.other) == WakeUps([world.part(1, of: 3)]))
      #expect(try await world.servers.wakeUps(of: world.other) == WakeUps())
    }
  }

  @Test("keeps a change waiting until all parts are through with it")
  func waiting() async throws {
    var history = ChangeHistoryLimits()
    history.changes = 0
    try await withWorld(keeping: history) { world in
      try await world.servers.partition(world.database, into: 2)
      for number in 0..<2 { try await world.take(world.part(number, of: 2)) }
      for name in ["a", "b"] { try await world.test.save(name) }
      try await world.dispatch(world.part(1, of: 2))
      #expect(try await world.waiting == ["a", "b"])
      #expect(try await world.test.store.outbox.undispatchedDatabases() == [world.database])
      try await world.dispatch(world.part(0, of: 2), atMost: 1)
      #expect(try await world.waiting == ["b"])
      try await world.dispatch(world.part(0, of: 2))
      #expect(try await world.waiting == [])
      #expect(try await world.test.store.outbox.undispatchedDatabases() == [])
    }
  }

  @Test("keeps a change that is large whole until all parts are through with it, and its name then")
  func largeChanges() async throws {
    var history = ChangeHistoryLimits()
    history.changeBytes = 300
    try await withWorld(keeping: history) { world in
      try await world.servers.partition(world.database, into: 2)
      for number in 0..<2 { try await world.take(world.part(number, of: 2)) }
      let text = String(repeating: "x", count: 1_000)
      try await world.test.save("large", ["text": .string(text)])
      try await world.dispatch(world.part(1, of: 2))
      let logged = try await world.dispatch(world.part(0, of: 2))
      #expect(!logged.isEmpty)
      let past = try await world.test.store.changeHistory.pastChanges(
        of: nil, in: world.database, before: nil, limit: 9)
      #expect(past.map(\.recordName) == ["large"])
      #expect(past.map(\.hasFields) == [false])
    }
  }

  @Test("lets a part be dispatched by its server alone, and as long as it is one")
  func fencing() async throws {
    try await withWorld { world in
      try await world.test.save("a")
      let whole = try await world.test.outbox().map { MatchedChange(entry: $0, firings: []) }
      try await world.test.dispatch()
      try await world.servers.partition(world.database, into: 2)
      try await world.take(world.part(0, of: 2))
      try await world.take(world.part(1, of: 2), for: world.other)
      try await world.test.save("b")
      #expect(await storeError { try await world.dispatch(world.part(1, of: 2)) } == .leaseLost)
      #expect(
        await storeError {
          try await world.test.store.outbox.completeDispatch(
            of: whole, timestamp: TestStore.time(0))
        } == .leaseLost)
      try await world.dispatch(world.part(0, of: 2))
      #expect(try await world.servers.endLease(of: world.database, by: world.server))
      #expect(try await world.servers.dividedDatabases().count == 2)
      try await world.servers.release(world.part(0, of: 2), by: world.server)
      try await world.test.save("c")
      #expect(await storeError { try await world.dispatch(world.part(0, of: 2)) } == .leaseLost)
      #expect(try await world.waiting == ["b", "c"])
    }
  }

  @Test("has a firesOnce subscription fire once, whichever part it is in")
  func firesOnce() async throws {
    try await withWorld { world in
      for user in Self.users {
        _ = try await world.test.subscribe(
          noteSubscription("once", options: [.events, .firesOnce]), as: user)
      }
      try await world.servers.partition(world.database, into: 4)
      for name in ["a", "b"] { try await world.test.save(name) }
      var logged: [String] = []
      for number in 0..<4 {
        try await world.take(world.part(number, of: 4))
        logged += try await world.dispatch(world.part(number, of: 4))
      }
      let lines = Self.users.flatMap { ["\($0) a", "\($0) a", "\($0) b"] }
      #expect(logged.sorted() == lines.sorted())
    }
  }

  @Test("of a store must be of one part each before it is moved")
  func moving() async throws {
    try await withTemporaryDirectory { directory in
      let schema = try await PostgreSQLServer.shared.makeSchema()
      let location = StoreLocation.postgreSQL(try PostgreSQLAddress(schema.address), assets: nil)
      let store = try await Store.open(at: location)
      let test = try await TestStore(store)
      try await store.servers?.partition(test.publicID, into: 2)
      await store.close()
      let target = StoreLocation.file(path: directory + "/petrel.sqlite")
      let code = await storeError { _ = try await StoreMove.run(from: location, to: target) }
      #expect(code == .cannotOpen)
      try await PostgreSQLServer.shared.drop(schema)
    }
  }
}
