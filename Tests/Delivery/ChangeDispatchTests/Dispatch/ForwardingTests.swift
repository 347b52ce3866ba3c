import CloudKitModel
import PropertyTesting
import Storage
import StoreModel
import Testing
import Waiting

@testable import ChangeDispatch

/// The forwarding of changes to participants, under failures and beside removals.
struct ForwardingTests {
  private typealias World = DispatchWorld

  @Test(
    "a change reaches each participant once, whatever fails",
    arguments: Seeds.some(3), [true, false])
  func exactly(seed: Int, failsAfter: Bool) async throws {
    try await withWorld { world in
      let shared = try await SharedZoneWorld(world)
      let users = (0..<7).map { "_user\($0)" }
      let link = try await shared.share(with: users)
      for user in users {
        try await shared.accept(link, as: user)
        try await world.subscribe(
          Subscription(subscriptionID: "s", kind: .database(recordType: nil)),
          in: try await world.store.databases.database(at: World.address(.shared, owner: user)),
          as: user)
      }
      // A few failures only: after each, the dispatcher waits longer.
      let left = Box(5)
      let random = Box(SeededGenerator(seed: seed))
      let fail: @Sendable ([MatchedChange]) throws -> Void = { _ in
        guard random.value.withLock({ $0.chance(1, in: 25) }) else { return }
        let fails = left.value.withLock { left in
          left -= 1
          return left >= 0
        }
        if fails {
          throw StoreError(.statementFailed, "for a test")
        }
      }
      var hooks = DispatchHooks()
      if failsAfter { hooks.afterCompletion = fail } else { hooks.beforeCompletion = fail }
      let names = (0..<40).map { "n\($0)" }
      let first = RunningDispatcher(hooks.around(world.store)) { $0.batchSize = 3 }
      for name in names.prefix(20) { try await shared.save(name) }
      // What a dispatcher leaves, the next one continues.
      await first.dispatcher.stop()
      let second = RunningDispatcher(hooks.around(world.store)) { $0.firingLimit = 2 }
      for name in names.dropFirst(20) { try await shared.save(name) }
      try await eventually("seed \(seed): all is dispatched") { try await world.isDispatched }
      await second.dispatcher.stop()
      for user in users {
        let heard = try await shared.log(of: user).compactMap {
          $0.notification.change.record?.recordID.recordName
        }
        #expect(heard.filter { $0 != ShareContent.zoneShareName } == names, "seed \(seed), \(user)")
      }
      #expect(second.dispatcher.metrics.waitingForwards == 0)
      #expect(first.dispatcher.metrics.failures + second.dispatcher.metrics.failures > 0)
    }
  }

  @Test("nothing that was committed after a removal reaches the removed participant")
  func removals() async throws {
    // The comparison needs all changes: eight of each round at most.
    let rounds = Seeds.some(500).count
    let keepChanges: (inout StoreConfiguration) -> Void = {
      $0.changeHistory.changes = 8 * rounds
    }
    try await withWorld(configure: keepChanges) { world in
      let shared = try await SharedZoneWorld(world)
      let running = RunningDispatcher(DispatchStore(world.store))
      try await raceRemovals(rounds, of: [shared])
      await running.dispatcher.stop()
    }
  }

  @Test("the same holds for servers that share a store")
  func removalsOnSeveralServers() async throws {
    try await withServers(2) { servers, _ in
      let first = try await SharedZoneWorld(servers[0].world)
      let second = try await SharedZoneWorld(servers[1].world, isNew: false)
      try await raceRemovals(40, of: [first, second])
    }
  }

  @Test("changes that servers commit by turns all reach a participant, in order")
  func turns() async throws {
    try await withServers(2) { servers, _ in
      let first = try await SharedZoneWorld(servers[0].world)
      let second = try await SharedZoneWorld(servers[1].world, isNew: false)
      try await first.accept(try await first.share(with: [World.bob]))
      let names = (0..<100).map { "n\($0)" }
      for (place, name) in names.enumerated() {
        try await (place.isMultiple(of: 2) ? first : second).save(name)
      }
      try await eventually("all is dispatched") { try await first.world.isDispatched }
      let heard = try await first.log().compactMap {
        $0.notification.change.record?.recordID.recordName
      }
      #expect(heard.filter { $0 != ShareContent.zoneShareName } == names)
    }
  }

  /// Removes Bob while records are saved, and invites him again, and compares his log with the order
  /// of the commits.
  ///
  /// - Parameter servers: the servers, which take turns.
  private func raceRemovals(_ count: Int, of servers: [SharedZoneWorld]) async throws {
    for round in 0..<count {
      let (one, other) = (servers[round % servers.count], servers[(round + 1) % servers.count])
      let link = try await one.share(with: [World.bob])
      try await other.accept(link)
      async let removal = one.share(with: [])
      for number in 0..<3 { try await other.save("r\(round)-\(number)") }
      _ = try await removal
      try await other.save("r\(round)-late")
    }
    let shared = servers[0]
    try await eventually("all is dispatched") { try await shared.world.isDispatched }
    let changes = try await shared.world.store.changeHistory.pastChanges(
      of: nil, in: shared.world.privateID, before: nil, limit: 100_000)
    var isPart = false
    var expected: Set<String> = []
    var isRemoved = 0
    for past in changes.reversed() {
      let isRemoval = past.audience.departed == [World.bob]
      if past.change.userRecordName == World.bob, past.recordName == ShareContent.zoneShareName {
        isPart = true
      }
      if isPart { expected.insert(past.change.notificationID.uuidString) }
      if isRemoval {
        isPart = false
        isRemoved += 1
      }
    }
    let log = try await shared.log()
    let heard = log.map { $0.notification.change.notificationID.uuidString }
    #expect(Set(heard).count == heard.count, "nothing is heard twice")
    #expect(Set(heard).isSubset(of: expected))
    #expect(isRemoved == count)
    #expect(
      log.count { $0.notification.change.event == .recordDeleted } == count,
      "each removal is heard once")
    #expect(
      !log.contains {
        $0.notification.change.record?.recordID.recordName.hasSuffix("late") == true
      })
  }
}
