import CloudKitModel
import PostgreSQLTesting
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import SQLEngine
@testable import Storage

struct ServerNotificationTests {
  /// Two servers that have one store open; the first hears.
  private struct Pair: Sendable {
    var first: Store
    var second: Store
    var one: ServerID
    var two: ServerID
    var database: DatabaseID
    var address: PostgreSQLAddress
    var heard: Heard

    func save(_ name: String, by store: Store) async throws {
      try await TestStore(store).save(name)
    }

    /// All that the first was given notification of by now.
    func notifications() async throws -> [ServerNotification] {
      let number = heard.notifications.withLock { $0.count { $0 == .joined(two) } }
      // What is sent later comes later.
      try await second.sharedCluster.announceMembership(of: two)
      try await eventually("the notification has come") {
        heard.notifications.withLock { $0.count { $0 == .joined(two) } } > number
      }
      return heard.notifications.withLock { $0 }.filter { $0 != .joined(two) }
    }
  }

  private func withPair(_ body: (Pair) async throws -> Void) async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    let address = try PostgreSQLAddress(schema.address)
    let first = try await Store.open(at: .postgreSQL(address, assets: nil))
    let second = try await Store.open(at: .postgreSQL(address, assets: nil))
    let test = try await TestStore(first)
    try await test.watch()
    let heard = Heard()
    try first.sharedCluster.setNotificationHandler { notification in
      heard.notifications.withLock { $0.append(notification) }
    }
    let pair = Pair(
      first: first, second: second,
      one: try await first.sharedCluster.registerServer("one", for: 60),
      two: try await second.sharedCluster.registerServer("two", for: 60), database: test.publicID,
      address: address, heard: heard)
    try await eventually("the first hears") {
      try await second.sharedCluster.announceMembership(of: pair.two)
      return heard.notifications.withLock { $0.contains(.joined(pair.two)) }
    }
    try await pair.save("lease", by: first)
    try await body(pair)
    try first.sharedCluster.setNotificationHandler(nil)
    await first.close()
    await second.close()
    try await PostgreSQLServer.shared.drop(schema)
  }

  @Test("wake up the server that dispatches the changes of others, and never for its own")
  func wakeUps() async throws {
    try await withPair { pair in
      for name in ["a", "b"] {
        let former = try await pair.notifications().count
        try await pair.save(name, by: pair.second)
        try await eventually("the first is woken up") {
          try await pair.notifications().count > former
        }
        #expect(
          try await pair.first.sharedCluster.wakeUps(of: pair.one)
            == WakeUps([.whole(pair.database)]))
      }
      let heard = try await pair.notifications()
      #expect(Set(heard) == [.wakeUp])
      // Its own saves are no news.
      try await pair.save("e", by: pair.first)
      #expect(try await pair.notifications() == heard)
    }
  }

  @Test("tell of announcements, whole or that there are some, to others than who made them")
  func announcements() async throws {
    try await withPair { pair in
      let many = Announcement(subscribers: Set((0..<2_000).map { "_subscriber\($0)" }))
      let told = [
        Announcement(subscribers: ["_a", "_b"]), Announcement(subscribers: nil), many,
      ]
      for announcement in told {
        try await pair.second.sharedCluster.announce(announcement, from: pair.two)
        try await pair.first.sharedCluster.announce(announcement, from: pair.one)
      }
      let heard = try await pair.notifications().map { notification in
        if case .announced(_, let announcement) = notification { return announcement }
        return nil
      }
      #expect(heard == [told[0], told[1], nil])
    }
  }

  @Test("what came as a notification is not told again by the table")
  func passing() async throws {
    try await withPair { pair in
      var position = AnnouncementPosition()
      position = try await pair.first.sharedCluster.announcements(after: position, for: pair.one)
        .position
      try await pair.second.sharedCluster.announce(
        Announcement(subscribers: ["_a"]), from: pair.two)
      let notifications = try await pair.notifications()
      try await pair.second.sharedCluster.announce(
        Announcement(subscribers: ["_b"]), from: pair.two)
      var names: Set<AnnouncementName> = []
      for case .announced(let name, _) in notifications { names.insert(name) }
      position.pass(names)
      let read = try await pair.first.sharedCluster.announcements(after: position, for: pair.one)
      #expect(read.announcements == [Announcement(subscribers: ["_b"])])
    }
  }

  @Test("come again after the connection was lost, under a server's new number too")
  func reconnecting() async throws {
    try await withPair { pair in
      try await pair.first.sharedCluster.unregisterServer(pair.one)
      let three = try await pair.first.sharedCluster.registerServer("three", for: 60)
      try await PostgreSQLServer.shared.execute(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE query LIKE '%LISTEN petrel_%' AND pid <> pg_backend_pid()
        """)
      try await eventually("the loss is told") {
        pair.heard.notifications.withLock { $0.contains(.interrupted) }
      }
      try await eventually("the first hears again") {
        try await pair.second.sharedCluster.announceMembership(of: pair.two)
        return pair.heard.notifications.withLock { $0.last == .joined(pair.two) }
      }
      // The lease was that of the former number.
      try await pair.save("a", by: pair.first)
      #expect(try await pair.first.sharedCluster.isLeased(.whole(pair.database), to: three))
      try await pair.save("b", by: pair.second)
      #expect(try await pair.notifications().contains(.wakeUp))
    }
  }

  @Test("word that a commit under way counts on is not taken for heard before that is over")
  func wordDuringCommit() async throws {
    try await withPair { pair in
      try await pair.save("a", by: pair.second)
      let entries = try await pair.first.outbox.undispatchedChanges(
        in: .whole(pair.database), after: 0, limit: 1)
      #expect(!entries.isEmpty)
      let during = Mutex<Int?>(nil)
      try await pair.second.transactions.write { transaction in
        transaction.outbox = entries
        try DispatchLeaseTable(transaction: transaction).pointToChanges()
        // The statements that nobody waits for are carried out.
        _ = try transaction.connection.first("SELECT 1", []) { _ in true }
        // What the first would do now.
        let other = try PostgreSQLConnection(to: pair.address)
        defer { other.close() }
        let taken = try other.rows(
          """
          SELECT database_id FROM dispatch_leases WHERE database_id = $1 AND wake_up = 1
          FOR NO KEY UPDATE SKIP LOCKED
          """, [.integer(pair.database.rawValue)]
        ) { _ in true }.count
        during.withLock { $0 = taken }
        transaction.outbox = []
      }
      #expect(during.withLock { $0 } == 0)
      let other = try await Store.onThread {
        Kept(try PostgreSQLConnection(to: pair.address))
      }
      try await other.execute("BEGIN")
      try await other.execute(
        "SELECT 1 FROM dispatch_leases WHERE database_id = \(pair.database.rawValue) FOR SHARE")
      #expect(try await pair.first.sharedCluster.wakeUps(of: pair.one) == WakeUps(isWhole: false))
      try await other.execute("COMMIT")
      #expect(
        try await pair.first.sharedCluster.wakeUps(of: pair.one) == WakeUps([.whole(pair.database)])
      )
      other.close()
    }
  }

  @Test(
    "are what was given notification of",
    arguments: [
      ServerNotification.wakeUp, .joined(ServerID(rawValue: 7)),
      .announced(AnnouncementName(server: 1, number: 2), nil),
      .announced(AnnouncementName(server: 1, number: 2), Announcement(subscribers: nil)),
      .announced(
        AnnouncementName(server: 1, number: 2), Announcement(subscribers: ["_a b", "_c"])),
    ])
  func payload(_ notification: ServerNotification) {
    #expect(ServerNotification(payload: notification.payload) == notification)
  }

  @Test(
    "that make no sense are none",
    arguments: ["", "\n", "here", "here x", "told 1", "told 1 x all", "told 1 2 loudly", "words"])
  func nonsense(_ payload: String) {
    #expect(ServerNotification(payload: payload) == nil)
  }
}

private final class Heard: Sendable {
  let notifications = Mutex<[ServerNotification]>([])
}

/// A connection that a test holds between its steps.
private final class Kept: @unchecked Sendable {
  // Touched by one step at a time.
  private let connection: PostgreSQLConnection

  init(_ connection: PostgreSQLConnection) {
    self.connection = connection
  }

  func execute(_ script: String) async throws {
    try await Store.onThread { try self.connection.execute(script) }
  }

  func close() { connection.close() }
}
