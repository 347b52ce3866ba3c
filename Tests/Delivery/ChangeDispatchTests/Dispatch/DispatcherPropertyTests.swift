import CloudKitModel
import PropertyTesting
import StoreModel
import Testing
import Waiting

@testable import ChangeDispatch

/// Random histories of several databases against a plain model.
struct DispatcherPropertyTests {
  /// When the dispatcher runs.
  enum Moment: String, CaseIterable, Sendable { case beside, afterwards, interrupted }

  @Test(
    "every change is dispatched exactly once and in order, whatever the room in memory",
    arguments: Seeds.some(4), Moment.allCases)
  func exactly(seed: Int, moment: Moment) async throws {
    var random = SeededGenerator(seed: seed)
    let capacity = Int.random(in: 1...6, using: &random)
    let batch = Int.random(in: 1...5, using: &random)
    let pieceSize = Int.random(in: 1...3, using: &random)
    let firingLimit = Int.random(in: 1...8, using: &random)
    let laneLimit = Int.random(in: 1...3, using: &random)
    let firingsOfSubscriber = random.pick([0, 2, 6, 1_000])
    let costOfSubscriber = random.pick([0, 20, 1_000_000])
    let deferredBatch = Int.random(in: 1...4, using: &random)
    let byteLimit = random.pick([1, 200, 1_000_000])
    let configure: (inout Dispatcher.Configuration) -> Void = {
      $0.handoverCapacity = capacity
      $0.batchSize = batch
      $0.indexBytes = 1
      $0.indexPieceSize = pieceSize
      $0.firingLimit = firingLimit
      $0.laneLimit = laneLimit
      $0.firingsOfSubscriber = firingsOfSubscriber
      $0.costOfSubscriber = costOfSubscriber
      $0.deferredBatchSize = deferredBatch
      $0.byteLimit = byteLimit
      $0.retirementDelay = 0.005
    }
    try await withWorld(inFile: seed.isMultiple(of: 2)) { world in
      var histories: [History] = []
      for number in 0..<3 {
        histories.append(
          History(
            number: number, seed: seed,
            database: try await world.store.databases.database(
              at: DispatchWorld.address(.private, owner: "_owner\(number)"))))
      }
      var dispatchers: [RunningDispatcher] = []
      if moment != .afterwards {
        dispatchers.append(RunningDispatcher(DispatchStore(world.store), configure: configure))
      }
      let expected = try await withThrowingTaskGroup(of: (Int, [String]).self) { group in
        for history in histories {
          group.addTask { (history.number, try await history.run(in: world)) }
        }
        if moment == .interrupted {
          await dispatchers[0].dispatcher.stop()
          dispatchers.append(RunningDispatcher(DispatchStore(world.store), configure: configure))
        }
        return try await group.reduce(into: [Int: [String]]()) { $0[$1.0] = $1.1 }
      }
      if moment == .afterwards {
        dispatchers.append(RunningDispatcher(DispatchStore(world.store), configure: configure))
      }
      try await eventually("seed \(seed): the outbox must become empty") {
        try await world.isDispatched
      }
      for running in dispatchers { await running.dispatcher.stop() }

      let reported = dispatchers.flatMap(\.lines)
      let log = try await world.readLog()
      for number in histories.indices {
        // Every subscription bears the number of its database.
        let mark = "\(number)-"
        #expect(
          Self.byChange(reported.filter { $0.hasPrefix(mark) }) == expected[number],
          "seed \(seed), \(moment), database \(number), as reported")
        #expect(
          Self.byChange(log.filter { $0.hasPrefix(mark) }) == expected[number],
          "seed \(seed), \(moment), database \(number), in the log")
      }
      #expect(dispatchers.allSatisfy { $0.dispatcher.metrics.failures == 0 })
    }
  }

  /// Lines in their order, but those of one change sorted.
  static func byChange(_ lines: [String]) -> [String] {
    var groups: [[String]] = []
    for line in lines {
      let change = line.split(separator: " ").last
      if let last = groups.last?.first, last.split(separator: " ").last == change {
        groups[groups.count - 1].append(line)
      } else {
        groups.append([line])
      }
    }
    return groups.flatMap { $0.sorted() }
  }

  /// The operations of one writer on a database, with the notifications that they lead to.
  struct History: Sendable {
    let number: Int
    let seed: Int
    let database: DatabaseID

    /// Saves records, each with a name of its own, and subscriptions in between.
    ///
    /// - Parameter worlds: the same store, open in several servers; each step goes to one of them.
    func run(in worlds: DispatchWorld...) async throws -> [String] {
      var random = SeededGenerator(seed: seed * 31 + number)
      var active: [Subscription] = []
      var expected: [String] = []
      for step in 0..<40 {
        let world = random.pick(worlds)
        if Int.random(in: 0..<4, using: &random) == 0 {
          let subscription = makeSubscription(step, &random)
          try await world.subscribe(subscription, in: database)
          active.append(subscription)
          continue
        }
        let name = "r\(number)-\(step)"
        let type = random.pick(["Note", "Other"])
        let value = Int64.random(in: 0..<4, using: &random)
        try await world.save(name, type: type, ["a": .int64(value)], in: database)
        let record = Record(
          recordID: RecordID(recordName: name), recordType: type, fields: ["a": .int64(value)])
        let fired = active.filter { subscription in
          guard case .query(let query, _, let options) = subscription.kind else { return false }
          return options.contains(.firesOnRecordCreation) && query.matches(record)
        }
        expected += fired.map { "\($0.subscriptionID) \(name)" }.sorted()
        let consumed = Set(fired.filter(\.firesOnce).map(\.subscriptionID))
        active.removeAll { consumed.contains($0.subscriptionID) }
      }
      return expected
    }

    private func makeSubscription(
      _ step: Int, _ random: inout SeededGenerator
    ) -> Subscription {
      var options = random.pick([
        Subscription.Options.events, .firesOnRecordCreation, .firesOnRecordUpdate,
      ])
      if Int.random(in: 0..<3, using: &random) == 0 { options.insert(.firesOnce) }
      let filter = Filter(
        .field("a"), random.pick([.equals, .lessThan, .notEquals]),
        .int64(Int64.random(in: 0..<4, using: &random)))
      return DispatchWorld.query(
        "\(number)-s\(step)", type: random.pick(["Note", "Other"]),
        filters: Bool.random(using: &random) ? [filter] : [], options: options)
    }
  }
}
