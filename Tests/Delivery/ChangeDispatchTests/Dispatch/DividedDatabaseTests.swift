import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing
import Waiting

@testable import ChangeDispatch

/// Random histories of a database that several servers dispatch in parts, against a plain model.
struct DividedDatabaseTests {
  private static let users = (0..<8).map { "_user\($0)" }

  /// An event that affects the servers during the test.
  enum Trouble: String, CaseIterable, Sendable { case none, struckOff, replaced }

  @Test(
    "notifies each subscriber of each change once and in order, however and whenever it is divided",
    arguments: Seeds.some(2), Trouble.allCases)
  func exactly(seed: Int, trouble: Trouble) async throws {
    try await withServers(3) { servers, location in
      let worlds = servers.map(\.world)
      let database = worlds[0].publicID
      async let expected = run(seed: seed, in: worlds, database)
      switch trouble {
      case .none: break
      case .struckOff:
        for round in 0..<4 {
          let membership = servers[round % 3].running.membership
          try await eventually("the server is registered") { membership?.server != nil }
          guard let id = membership?.server else { continue }
          try await worlds[(round + 1) % 3].store.servers?.unregisterServer(id)
          try await eventually("the server has noticed") { membership?.server != id }
        }
      case .replaced:
        await servers[1].running.dispatcher.stop()
        await servers[1].running.membership?.stop()
        servers.append(try await SharedStoreServer(at: location))
      }
      let lines = try await expected
      try await eventually("seed \(seed), \(trouble): the outbox must become empty") {
        try await worlds[2].isDispatched
      }
      for user in Self.users {
        #expect(
          DispatcherPropertyTests.byChange(try await log(of: user, in: worlds[2]))
            == lines[user] ?? [], "seed \(seed), \(trouble), \(user)")
      }
    }
  }

  @Test("is spread over all servers, also those that come and go")
  func spread() async throws {
    try await withServers(2) { servers, location in
      let world = servers[0].world
      for user in Self.users {
        try await world.subscribe(DispatchWorld.query("q"), as: user)
      }
      try await world.save("whole")
      try await eventually("one server has all") { [servers] in
        servers.reduce(0) { $0 + $1.running.dispatcher.metrics.indexes } == 1
      }
      try await world.store.servers?.partition(world.publicID, into: 4)
      func parts(_ servers: [SharedStoreServer]) -> [Int] {
        servers.map { $0.running.membership?.metrics.parts ?? 0 }
      }
      try await eventually("each has its share") { [servers] in parts(servers) == [2, 2] }
      try await world.save("none")
      try await eventually("nobody holds more than its parts") { [servers] in
        servers.allSatisfy { $0.running.dispatcher.metrics.indexes == 2 }
      }
      servers.append(try await SharedStoreServer(at: location))
      try await eventually("the third has its share") { [servers] in
        parts(servers).sorted() == [1, 1, 2]
      }
      try await world.save("one")
      try await eventually("all parts are through") { try await world.isDispatched }
      await servers[2].stop()
      servers.removeLast()
      try await eventually("the others have all") { [servers] in parts(servers) == [2, 2] }
      try await world.save("two")
      try await eventually("all parts are through") { try await world.isDispatched }
      for user in Self.users {
        #expect(
          try await log(of: user, in: world) == ["whole", "none", "one", "two"].map { "q \($0)" })
      }
      // What each dispatched was its own part's.
      let logged = servers.map { $0.running.lines.count }
      #expect(logged.allSatisfy { $0 > 0 })
    }
  }

  @Test("asks no server what all of them together would know")
  func asking() async throws {
    try await withServers(1) { servers, _ in
      let world = servers[0].world
      try await world.subscribe(DispatchWorld.query("q"))
      let change = Change(
        event: .recordCreated, zoneID: .default,
        record: Record(recordID: RecordID(recordName: "r"), recordType: "Note", fields: [:]),
        notificationID: UUID(), timestamp: DispatchWorld.start)
      let dispatcher = servers[0].running.dispatcher
      try await eventually("the index is there") {
        try await dispatcher.subscriptions(fitting: change, in: world.publicID, atMost: 5)?.count
          == 1
      }
      try await world.store.servers?.partition(world.publicID, into: 2)
      #expect(
        try await dispatcher.subscriptions(fitting: change, in: world.publicID, atMost: 5) == nil)
    }
  }

  private func log(of user: String, in world: DispatchWorld) async throws -> [String] {
    var lines: [String] = []
    var token: String?
    while true {
      let page = try await world.store.notificationLog.notificationLog(
        of: Recipient(
          userRecordName: user, container: DispatchWorld.container, environment: .development),
        since: token, limit: 1_000)
      for case .unread(let entry) in page.notifications { lines.append(DispatchWorld.line(entry)) }
      guard page.moreComing else { return lines }
      token = page.token
    }
  }

  /// Subscribes, saves and divides, at any of the servers.
  ///
  /// - Returns: what each user is to be notified of.
  private func run(
    seed: Int, in worlds: [DispatchWorld], _ database: DatabaseID
  ) async throws -> [String: [String]] {
    var random = SeededGenerator(seed: seed * 17 + 3)
    var active: [(user: String, subscription: Subscription)] = []
    var expected: [String: [String]] = [:]
    for step in 0..<90 {
      let world = random.pick(worlds)
      switch Int.random(in: 0..<8, using: &random) {
      case 0:
        try await world.store.servers?.partition(
          database, into: Int.random(in: 1...4, using: &random))
      case 1, 2:
        var options = Subscription.Options.events
        if Int.random(in: 0..<3, using: &random) == 0 { options.insert(.firesOnce) }
        let subscription = DispatchWorld.query("s\(step)", options: options)
        let user = random.pick(Self.users)
        try await world.subscribe(subscription, in: database, as: user)
        active.append((user, subscription))
      default:
        let name = "r\(step)"
        try await world.save(name, in: database)
        for (user, subscription) in active.sorted(by: {
          $0.subscription.subscriptionID < $1.subscription.subscriptionID
        }) {
          expected[user, default: []].append("\(subscription.subscriptionID) \(name)")
        }
        active.removeAll { $0.subscription.firesOnce }
      }
    }
    return expected
  }
}
