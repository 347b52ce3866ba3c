import CloudKitModel
import PostgreSQLTesting
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import SQLEngine
@testable import Storage

struct ClusterServiceTests {
  /// Two servers that have one store open.
  private struct Pair: Sendable {
    var first: Store
    var second: Store
    var database: DatabaseID

    func save(_ name: String, by store: Store) async throws {
      try await TestStore(store).save(name)
    }
  }

  private func withPair(_ body: (Pair) async throws -> Void) async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    let location = StoreLocation.postgreSQL(try PostgreSQLAddress(schema.address), assets: nil)
    let first = try await Store.open(at: location)
    let second = try await Store.open(at: location)
    let test = try await TestStore(first)
    try await test.watch()
    try await body(Pair(first: first, second: second, database: test.publicID))
    await first.close()
    await second.close()
    try await PostgreSQLServer.shared.drop(schema)
  }

  @Test("know of each other as long as they renew their registration")
  func registration() async throws {
    try await withPair { pair in
      let one = try await pair.first.sharedCluster.registerServer("one", for: 60)
      let two = try await pair.second.sharedCluster.registerServer("two", for: 0.2)
      #expect(one != two)
      #expect(try await pair.first.sharedCluster.servers().map(\.description) == ["one", "two"])
      try await eventually("the time of the second is over") {
        try await pair.first.sharedCluster.renewServer(one, for: 60)?.gone == [two]
      }
      #expect(try await pair.first.sharedCluster.servers().map(\.id) == [one])
      #expect(try await pair.second.sharedCluster.renewServer(two, for: 60) == nil)
      let three = try await pair.second.sharedCluster.registerServer("two again", for: 60)
      #expect(
        try await pair.first.sharedCluster.renewServer(one, for: 60)?.others.map(\.id) == [three])
      try await pair.second.sharedCluster.unregisterServer(three)
      #expect(try await pair.first.sharedCluster.renewServer(one, for: 60) == ServerRenewal())
    }
  }

  @Test("a commit leases its database to its server, and leaves word when another has it")
  func committing() async throws {
    try await withPair { pair in
      let one = try await pair.first.sharedCluster.registerServer("one", for: 60)
      let two = try await pair.second.sharedCluster.registerServer("two", for: 60)
      try await pair.save("a", by: pair.first)
      #expect(try await pair.first.sharedCluster.leasedParts(of: one) == [.whole(pair.database)])
      #expect(try await pair.first.sharedCluster.wakeUps(of: one) == WakeUps())
      try await pair.save("b", by: pair.second)
      #expect(try await pair.second.sharedCluster.leasedParts(of: two) == [])
      #expect(
        try await pair.first.sharedCluster.wakeUps(of: one) == WakeUps([.whole(pair.database)]))
      #expect(try await pair.first.sharedCluster.wakeUps(of: one) == WakeUps())
      #expect(
        try await pair.first.sharedCluster.freeDatabases(after: DatabaseID(rawValue: 0), limit: 9)
          == [])
    }
  }

  @Test("what others dispatch does not come to the commit handler")
  func commitHandler() async throws {
    try await withPair { pair in
      _ = try await pair.first.sharedCluster.registerServer("one", for: 60)
      _ = try await pair.second.sharedCluster.registerServer("two", for: 60)
      let heard = Heard()
      for (name, store) in [("one", pair.first), ("two", pair.second)] {
        store.outbox.setCommitHandler { entries in
          heard.lines.withLock { $0 += entries.map { "\(name) \($0.change.recordName)" } }
        }
      }
      try await pair.save("a", by: pair.first)
      try await pair.save("b", by: pair.second)
      try await pair.save("c", by: pair.first)
      #expect(heard.lines.withLock { $0 } == ["one a", "one c"])
    }
  }

  @Test("one of several takes a database that is free")
  func taking() async throws {
    try await withPair { pair in
      let one = try await pair.first.sharedCluster.registerServer("one", for: 60)
      let two = try await pair.second.sharedCluster.registerServer("two", for: 60)
      try await pair.save("a", by: pair.first)
      try await pair.first.sharedCluster.unregisterServer(one)
      let free = try await pair.second.sharedCluster.freeDatabases(
        after: DatabaseID(rawValue: 0), limit: 9)
      #expect(free.map(\.part) == [.whole(pair.database)])
      let three = try await pair.first.sharedCluster.registerServer("three", for: 60)
      async let second = pair.second.sharedCluster.lease(free[0], to: two)
      async let third = pair.first.sharedCluster.lease(free[0], to: three)
      let taken = try await [second, third]
      #expect(taken.count(where: \.self) == 1)
      let isSecond = taken[0]
      #expect(
        try await pair.first.sharedCluster.isLeased(.whole(pair.database), to: two) == isSecond)
      #expect(
        try await pair.first.sharedCluster.isLeased(.whole(pair.database), to: three) == !isSecond)
      #expect(
        try await pair.first.sharedCluster.freeDatabases(after: DatabaseID(rawValue: 0), limit: 9)
          == [])
    }
  }

  @Test("a lease ends only when everything is dispatched")
  func ending() async throws {
    try await withPair { pair in
      let one = try await pair.first.sharedCluster.registerServer("one", for: 60)
      try await pair.save("a", by: pair.first)
      #expect(try await pair.first.sharedCluster.endLease(of: pair.database, by: one) == false)
      try await TestStore(pair.first).dispatch()
      #expect(try await pair.first.sharedCluster.endLease(of: pair.database, by: one))
      #expect(try await pair.first.sharedCluster.leasedParts(of: one) == [])
    }
  }

  @Test("changes that another server dispatches cannot be dispatched")
  func fencing() async throws {
    try await withPair { pair in
      let one = try await pair.first.sharedCluster.registerServer("one", for: 60)
      let two = try await pair.second.sharedCluster.registerServer("two", for: 60)
      try await pair.save("a", by: pair.first)
      let entries = try await TestStore(pair.first).outbox()
      #expect(entries.count == 1)
      try await pair.second.sharedCluster.unregisterServer(one)
      let free = try await pair.second.sharedCluster.freeDatabases(
        after: DatabaseID(rawValue: 0), limit: 9)
      #expect(try await pair.second.sharedCluster.lease(free[0], to: two))
      let code = await storeError { try await TestStore(pair.first).dispatch() }
      #expect(code == .leaseLost)
      #expect(try await TestStore(pair.first).outbox() == entries)
      try await TestStore(pair.second).dispatch()
      #expect(try await TestStore(pair.first).outbox() == [])
    }
  }

  @Test("announcements come to the other servers, once")
  func announcements() async throws {
    try await withPair { pair in
      let one = try await pair.first.sharedCluster.registerServer("one", for: 60)
      let two = try await pair.second.sharedCluster.registerServer("two", for: 60)
      try await pair.first.sharedCluster.announce(Announcement(subscribers: ["_early"]), from: one)
      var position = AnnouncementPosition()
      func heard() async throws -> [Announcement] {
        let (announcements, next) = try await pair.second.sharedCluster.announcements(
          after: position, for: two)
        position = next
        return announcements
      }
      #expect(try await heard() == [])
      _ = try await heard()
      try await pair.first.sharedCluster.announce(
        Announcement(subscribers: ["_a", "_b"]), from: one)
      try await pair.second.sharedCluster.announce(Announcement(subscribers: ["_own"]), from: two)
      #expect(try await heard() == [Announcement(subscribers: ["_a", "_b"])])
      #expect(try await heard() == [])
      try await pair.first.sharedCluster.announce(Announcement(subscribers: nil), from: one)
      #expect(try await heard() == [Announcement(subscribers: nil)])
      #expect(try await heard() == [])
    }
  }

  @Test("deliveries that a server has taken are nobody else's until it is gone")
  func deliveries() async throws {
    try await withPair { pair in
      let one = try await pair.first.sharedCluster.registerServer("one", for: 60)
      let two = try await pair.second.sharedCluster.registerServer("two", for: 60)
      let test = try await TestStore(pair.first)
      try await test.register("token")
      _ = try await test.subscribe(noteSubscription("notes"))
      try await test.save("a")
      try await test.dispatch()
      let route = try #require(try await pair.first.deliveries.deliveryRoutes().keys.first)
      func take(_ store: Store, as server: ServerID) async throws -> Int {
        try await store.deliveries.takeDeliveries(
          on: route, dueAt: TestStore.time(1_000), limit: 10,
          lease: DeliveryLease(holder: server.rawValue, until: TestStore.time(10)),
          mergingHarder: false
        ).deliveries.count
      }
      #expect(try await take(pair.first, as: one) == 1)
      // Its lease is over, and yet it may be sending.
      #expect(try await take(pair.second, as: two) == 0)
      let beginning = TestStore.time(0)
      #expect(
        try await pair.second.deliveries.nextDeliveryTime(
          on: route, after: beginning, for: two.rawValue)
          == nil)
      try await pair.second.deliveries.reclaimDeliveries(at: beginning, exceptOf: two.rawValue)
      #expect(try await take(pair.second, as: two) == 0)
      try await pair.first.sharedCluster.unregisterServer(one)
      try await pair.second.deliveries.reclaimDeliveries(at: beginning, exceptOf: two.rawValue)
      #expect(
        try await pair.second.deliveries.nextDeliveryTime(
          on: route, after: TestStore.time(-1), for: two.rawValue) == beginning)
      #expect(try await take(pair.second, as: two) == 1)
    }
  }
}

private final class Heard: Sendable {
  let lines = Mutex<[String]>([])
}

extension Change {
  fileprivate var recordName: String { record?.recordID.recordName ?? "" }
}
