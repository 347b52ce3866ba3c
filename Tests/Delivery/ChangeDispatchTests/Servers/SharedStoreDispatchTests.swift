import CloudKitModel
import PropertyTesting
import Testing
import Waiting

@testable import ChangeDispatch

/// Random histories over several servers that share a store, against a plain model.
struct SharedStoreDispatchTests {
  private typealias History = DispatcherPropertyTests.History

  /// An event that affects the servers during the test.
  enum Trouble: String, CaseIterable, Sendable {
    case none
    /// The other servers treat working servers as dead.
    case struckOff
    /// One has nothing to do with the store from one moment to the next, and what it has is free when
    /// its time is over.
    case dead
    /// One stops as it should, and another comes.
    case replaced
  }

  @Test(
    "every change is in the log once and in order, whatever becomes of the servers",
    arguments: Seeds.some(2), Trouble.allCases)
  func exactly(seed: Int, trouble: Trouble) async throws {
    try await withServers(3) { servers, location in
      let worlds = servers.map(\.world)
      var histories: [History] = []
      for number in 0..<3 {
        histories.append(
          History(
            number: number, seed: seed,
            database: try await worlds[0].store.databases.database(
              at: DispatchWorld.address(.private, owner: "_owner\(number)"))))
      }
      let expected = try await withThrowingTaskGroup(of: (Int, [String]).self) { group in
        for history in histories {
          group.addTask {
            let first = worlds[trouble == .dead ? 1 : 0]
            let expected = try await history.run(in: first, worlds[1], worlds[2])
            return (history.number, expected)
          }
        }
        switch trouble {
        case .none: break
        case .struckOff:
          for round in 0..<6 {
            let membership = servers[round % 3].running.membership
            try await eventually("the server is registered") { membership?.server != nil }
            guard let id = membership?.server else { continue }
            try await worlds[(round + 1) % 3].store.servers?.unregisterServer(id)
            try await eventually("the server has noticed") { membership?.server != id }
          }
        case .dead:
          let last = History(
            number: histories.count, seed: seed,
            database: try await worlds[0].store.databases.database(
              at: DispatchWorld.address(.private, owner: "_last")))
          histories.append(last)
          let expected = try await last.run(in: worlds[0])
          await worlds[0].store.close()
          group.addTask { (last.number, expected) }
        case .replaced:
          await servers[1].running.dispatcher.stop()
          await servers[1].running.membership?.stop()
          servers.append(try await SharedStoreServer(at: location))
        }
        return try await group.reduce(into: [Int: [String]]()) { $0[$1.0] = $1.1 }
      }
      try await eventually("seed \(seed), \(trouble): the outbox must become empty") {
        try await worlds[2].isDispatched
      }
      let log = try await worlds[2].readLog()
      for number in histories.indices {
        #expect(
          DispatcherPropertyTests.byChange(log.filter { $0.hasPrefix("\(number)-") })
            == expected[number], "seed \(seed), \(trouble), database \(number)")
      }
      if trouble == .struckOff {
        #expect(servers.contains { ($0.running.membership?.metrics.lapses ?? 0) > 0 })
      }
      if trouble == .none {
        // Those with nothing to do are given up in the end.
        try await eventually("all leases are ended") {
          servers.allSatisfy { $0.running.membership?.metrics.leases == 0 }
        }
      }
    }
  }
}
