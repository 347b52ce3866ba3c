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
      // The writing thread gets to know the address, the type and the listeners.
      try await first.save("known", zone: zone, in: database)
      let runs = Mutex(0)
      let isDecided = Flag()
      let gate = DispatchSemaphore(value: 0)
      let operation = RecordOperation(
        kind: .create, recordID: RecordID(recordName: "new", zoneID: zone), recordType: "Note",
        fields: [:])
      async let outcome = store.transactions.write(
        locking: .database(database),
        needs: [ReadNeeds(database: database, records: [operation.recordID])]
      ) { transaction in
        let run = runs.withLock { runs in
          runs += 1
          return runs
        }
        var modifier = try RecordModifier(
          PreparedModification(
            RecordModification(
              database: database, operations: [operation], isAtomic: false,
              origin: ChangeOrigin(userRecordName: TestStore.alice), isByAdministrator: true,
              timestamp: TestStore.time(1))), transaction: transaction)
        let outcomes = try modifier.run()
        if run == 1 {
          isDecided.raise()
          gate.wait()
        }
        return outcomes.recordOutcomes(
          for: [], in: database, tags: transaction.context.changeTags)[0].summary
      }
      try await eventually("the save is decided") { isDecided.isUp }
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
      gate.signal()
      let summary = try await outcome
      switch other {
      case .savesTheRecord: #expect(summary == "exists")
      case .deletesTheZone: #expect(summary == "zoneNotFound")
      case .savesAnother, .subscribes, .nothing: #expect(summary == "saved")
      }
      #expect(runs.withLock { $0 } == (other == .nothing ? 1 : 2))
      if other == .subscribes {
        let changes = try await store.outbox.undispatchedChanges(
          in: .whole(database), after: 0, limit: 10)
        #expect(changes.map(\.change.record?.recordID.recordName) == ["new"])
      }
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
      let stands = Flag()
      let gate = DispatchSemaphore(value: 0)
      async let standing: Void = store.transactions.write(
        locking: .database(database), needs: [ReadNeeds(database: database)]
      ) { _ in
        stands.raise()
        gate.wait()
      }
      try await eventually("the server stands still") { stands.isUp }
      try await second.save("other", in: database)
      gate.signal()
      try await standing
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
