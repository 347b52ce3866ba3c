import CloudKitModel
import Dispatch
import ProtocolModels
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import Storage

/// Tests of writes that read before they lock their databases, while other servers write.
struct LateLockTests {
  /// A write that stands still when it has decided for the first time.
  private final class Standing: Sendable {
    private let stands = Flag()
    private let gate = DispatchSemaphore(value: 0)
    private let count = Mutex(0)

    var runs: Int { count.withLock { $0 } }

    /// The write calls it when it has decided.
    func pass() {
      let isFirst = count.withLock { count in
        count += 1
        return count == 1
      }
      guard isFirst else { return }
      stands.raise()
      gate.wait()
    }

    func wait() async throws {
      try await eventually("the write stands still") { [stands] in stands.isUp }
    }

    func goOn() { gate.signal() }
  }

  /// The work of another server between the reading and the writing of a save.
  enum Other: CaseIterable {
    case savesTheRecord, savesAnother, subscribes, deletesTheZone, nothing
  }

  @Test(
    "a save decides again if another server has changed its database since it read",
    arguments: Other.allCases)
  func again(_ other: Other) async throws {
    try await ServerGroup.with(servers: 2) {
      $0.writers = 1
    } _: { group in
      let (first, second) = (group.servers[0], group.servers[1])
      let store = group.store(0)
      let database = first.privateID
      let zone = try await first.makeZone("z")
      // The first save makes the type. With the second, the writing thread gets to know the address, the
      // type and the listeners.
      for _ in 0..<2 { try await first.save("known", zone: zone, in: database) }
      let standing = Standing()
      let operation = RecordOperation(
        kind: .create, recordID: RecordID(recordName: "new", zoneID: zone), recordType: "Note",
        fields: [:])
      async let outcome = store.transactions.write(
        locking: .database(database),
        needs: [ReadNeeds(database: database, records: [operation.recordID])]
      ) { transaction in
        var modifier = try RecordModifier(
          PreparedModification(
            RecordModification(
              database: database, operations: [operation], isAtomic: false,
              origin: ChangeOrigin(userRecordName: TestStore.alice), isByAdministrator: true,
              timestamp: TestStore.time(1))), transaction: transaction)
        let outcomes = try modifier.run()
        standing.pass()
        return outcomes.recordOutcomes(
          for: [], in: database, tags: transaction.context.changeTags)[0].summary
      }
      try await standing.wait()
      switch other {
      case .savesTheRecord: try await second.save("new", zone: zone, in: database)
      case .savesAnother: try await second.save("other", zone: zone, in: database)
      case .subscribes: try await second.watch()
      case .deletesTheZone:
        _ = try await second.store.zones.modifyZones(
          [.delete(zone)], in: database, origin: ChangeOrigin(userRecordName: TestStore.alice),
          timestamp: TestStore.time(1))
      case .nothing: break
      }
      standing.goOn()
      let summary = try await outcome
      switch other {
      case .savesTheRecord: #expect(summary == "exists")
      case .deletesTheZone: #expect(summary == "zoneNotFound")
      case .savesAnother, .subscribes, .nothing: #expect(summary == "saved")
      }
      #expect(standing.runs == (other == .nothing ? 1 : 2))
      if other == .subscribes {
        let changes = try await store.outbox.undispatchedChanges(
          in: .whole(database), after: 0, limit: 10)
        #expect(changes.map(\.change.record?.recordID.recordName) == ["new"])
      }
    }
  }

  /// The work of another server between the reading and the writing of a dispatch.
  enum OtherDuringDispatch: CaseIterable {
    case saves, takesTheLease, hearsOfIt, nothing
  }

  @Test(
    "a dispatch that stands still keeps nobody from saving, and decides again if another server has drawn a number since it read",
    arguments: OtherDuringDispatch.allCases)
  func dispatch(_ other: OtherDuringDispatch) async throws {
    try await ServerGroup.with(servers: 2) {
      $0.writers = 1
    } _: { group in
      let (first, second) = (group.servers[0], group.servers[1])
      let store = group.store(0)
      let part = DatabasePart.whole(first.publicID)
      let one = try await store.sharedCluster.registerServer("one", for: 60)
      let two = try await group.store(1).sharedCluster.registerServer("two", for: 60)
      _ = try await first.subscribe(
        Subscription(
          subscriptionID: "s",
          kind: .query(Query(recordType: "Note"), zoneID: nil, options: .events)))
      try await first.save("known")
      try await first.dispatch(at: 1)
      try await first.save("a")
      let firings = try await first.storedSubscriptions()
      let changes = try await first.outbox().map {
        PreparedChange(MatchedChange(entry: $0, firings: firings))
      }
      let standing = Standing()
      async let outcome = store.transactions.write(
        locking: .dispatch(of: changes), isDispatch: true,
        needs: OutboxService.needs(of: changes, at: TestStore.time(2))
      ) { transaction in
        var dispatch = DispatchCompletion(
          timestamp: TestStore.time(2), capacity: nil, transaction: transaction)
        try dispatch.complete(changes)
        standing.pass()
        return dispatch.outcome.logged.count
      }
      try await standing.wait()
      switch other {
      case .saves: try await second.save("b")
      case .takesTheLease:
        try await group.store(1).sharedCluster.unregisterServer(one)
        let free = try await group.store(1).sharedCluster.freeDatabases(
          after: DatabaseID(rawValue: 0), limit: 9)
        #expect(free.map(\.part) == [part])
        for part in free {
          #expect(try await group.store(1).sharedCluster.lease(part, to: two))
        }
      case .hearsOfIt: _ = try await store.sharedCluster.wakeUps(of: one)
      case .nothing: break
      }
      standing.goOn()
      do {
        let logged = try await outcome
        #expect(logged == 1 && other != .takesTheLease)
      } catch let error as StoreError {
        #expect(error.code == .leaseLost && other == .takesTheLease)
      }
      // Without the lease, the repetition decides nothing.
      #expect(standing.runs == (other == .saves ? 2 : 1))
      let waiting = try await second.outbox().compactMap(\.change.record?.recordID.recordName)
      switch other {
      case .saves: #expect(waiting == ["b"])
      case .takesTheLease: #expect(waiting == ["a"])
      case .hearsOfIt, .nothing: #expect(waiting == [])
      }
    }
  }

  @Test("a wake-up that the holder clears while a commit is under way is set again by the commit")
  func wakeUpDuringCommit() async throws {
    try await ServerGroup.with(servers: 2) {
      $0.writers = 1
    } _: { group in
      let (first, second) = (group.servers[0], group.servers[1])
      try await first.watch()
      let one = try await group.store(0).sharedCluster.registerServer("one", for: 60)
      _ = try await group.store(1).sharedCluster.registerServer("two", for: 60)
      try await first.save("lease")
      // The second server gets to know who listens, and leaves a wake-up.
      try await second.save("known")
      let standing = Standing()
      let operation = RecordOperation(
        kind: .create, recordID: RecordID(recordName: "new"), recordType: "Note", fields: [:])
      async let saved: Void = group.store(1).transactions.write(
        locking: .database(first.publicID),
        needs: [ReadNeeds(database: first.publicID, records: [operation.recordID])]
      ) { transaction in
        var modifier = try RecordModifier(
          PreparedModification(
            RecordModification(
              database: first.publicID, operations: [operation], isAtomic: false,
              origin: ChangeOrigin(userRecordName: TestStore.alice), isByAdministrator: true,
              timestamp: TestStore.time(1))), transaction: transaction)
        _ = try modifier.run()
        standing.pass()
      }
      try await standing.wait()
      let whole = WakeUps([.whole(first.publicID)])
      #expect(try await group.store(0).sharedCluster.wakeUps(of: one) == whole)
      standing.goOn()
      try await saved
      #expect(try await group.store(0).sharedCluster.wakeUps(of: one) == whole)
    }
  }

  @Test("a server that stands still between reading and writing keeps nobody from saving")
  func standstill() async throws {
    try await ServerGroup.with(servers: 2) {
      $0.writers = 1
    } _: { group in
      let (first, second) = (group.servers[0], group.servers[1])
      let store = group.store(0)
      let database = first.privateID
      try await first.save("known", in: database)
      let standing = Standing()
      async let write: Void = store.transactions.write(
        locking: .database(database), needs: [ReadNeeds(database: database)]
      ) { _ in
        standing.pass()
      }
      try await standing.wait()
      try await second.save("other", in: database)
      standing.goOn()
      try await write
    }
  }

  @Test(
    "no update is lost and no number drawn twice, in any order of the servers' steps",
    arguments: [
      LateLockModel.Limits(servers: 2, writes: 4), LateLockModel.Limits(servers: 3, writes: 4),
    ])
  func isSound(_ limits: LateLockModel.Limits) {
    guard case .sound(let states) = LateLockModel.explore(limits) else {
      Issue.record("\(LateLockModel.explore(limits))")
      return
    }
    #expect(states > 100)
  }

  @Test("the protocol needs each of its rules", arguments: LateLockModel.Flaw.allCases)
  func needsItsRules(_ flaw: LateLockModel.Flaw) {
    let limits = LateLockModel.Limits(servers: 2, writes: 3)
    #expect(LateLockModel.explore(limits, flaw: flaw) == .logWrong)
  }
}
