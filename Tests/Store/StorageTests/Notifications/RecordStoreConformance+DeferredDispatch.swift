import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  /// Subscribers whose firings are logged later than those of others.
  struct DeferredDispatch {
    static let engines = StoreEngine.allCases

    @Test(
      "in random histories each log has every notification once and in order, or its newest ones",
      arguments: engines, Seeds.some(3))
    func random(_ engine: StoreEngine, _ seed: Int) async throws {
      var random = SeededGenerator(seed: seed)
      // With no limit nothing is skipped.
      let limit = seed.isMultiple(of: 3) ? 1_000_000 : Int.random(in: 1...12, using: &random)
      func configure(_ configuration: inout StoreConfiguration) {
        configuration.notificationLog.entries = limit
        configuration.changeHistory.changes = [0, 1, 1_000][Int(seed % 3)]
        configuration.changeHistory.changeBytes = 300
        configuration.tuning.unfiledNotifications = [65_536, 1, 15][Int(seed % 3)]
      }
      try await engine.withStore(configure: configure) { test in
        var lane = PlainLane(test: test, limit: limit)
        for user in [TestStore.alice, TestStore.bob] {
          for number in 0..<6 {
            var subscription = noteSubscription(
              "s\(number)",
              filters: [
                Filter(
                  .field("n"), .greaterThanOrEquals, .int64(Int64.random(in: 0...2, using: &random))
                )
              ], desiredKeys: ["text"])
            if number == 5 {
              guard case .query(let query, let zone, let options) = subscription.kind else {
                return
              }
              subscription.kind = .query(query, zoneID: zone, options: options.union(.firesOnce))
            }
            _ = try await test.subscribe(subscription, as: user)
          }
        }
        for round in 0..<60 {
          switch Int.random(in: 0..<5, using: &random) {
          case 0, 1:
            for _ in 0..<Int.random(in: 1...3, using: &random) {
              let name = "r\(lane.saved)"
              let text = String(repeating: "t", count: random.pick([1, 400]))
              let number = Int64.random(in: 0...3, using: &random)
              try await test.save(name, ["n": .int64(number), "text": .string(text)])
              try await lane.note(name, number)
            }
          case 2:
            let deferring =
              random.chance(1, in: 2) ? [random.pick([TestStore.alice, TestStore.bob])] : []
            try await lane.dispatch(
              deferring: deferring, firingLimit: Int.random(in: 1...9, using: &random))
          default:
            try await lane.continueDeferral(
              changes: Int.random(in: 1...4, using: &random),
              firings: Int.random(in: 1...5, using: &random), "seed \(seed), round \(round)")
          }
        }
        try await lane.dispatch(deferring: [], firingLimit: 100)
        while try await lane.continueDeferral(changes: 3, firings: 4, "seed \(seed), at the end") {}
        #expect(try await test.store.outbox.undispatchedDatabases().isEmpty)
        #expect(lane.failures.isEmpty)
        try await test.store.maintenance.trim(at: TestStore.time(1))
        for user in [TestStore.alice, TestStore.bob] {
          let log = try await test.logLines(of: user)
          let expected = lane.expected[user, default: []]
          #expect(log == Array(expected.suffix(limit)), "seed \(seed), the log of \(user)")
          let once = lane.written[user, default: []]
          #expect(Set(once).count == once.count, "seed \(seed): one was logged twice")
        }
      }
    }

    @Test("a reader that missed skipped notifications learns of it", arguments: engines)
    func missed(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s"))
        try await test.save("a")
        try await test.dispatch()
        let token = try await test.log(since: nil, limit: 10).token
        try await test.save("b")
        try await test.save("c")
        let entries = try await test.outbox()
        try await test.store.outbox.completeDispatch(
          of: entries.map {
            var entry = $0
            entry.deferring = [TestStore.alice]
            return MatchedChange(entry: entry, firings: [])
          }, timestamp: TestStore.time(2))
        #expect(
          try await test.store.outbox.deferredSubscribers(in: .whole(test.publicID)) == [
            TestStore.alice
          ])
        #expect(try await test.store.outbox.undispatchedDatabases() == [test.publicID])
        // Nothing is missed yet.
        #expect(try await test.log(since: token, limit: 10).notifications.isEmpty)
        let work = try #require(
          try await test.store.outbox.deferredWork(
            of: TestStore.alice, in: .whole(test.publicID), limit: 10, ofAtMost: 100))
        #expect(work.changes.map(\.entry.change.record?.recordID.recordName) == ["b", "c"])
        #expect(work.changes.map(\.isReadable) == [true, true])
        let matched = [
          MatchedChange(entry: work.changes[0].entry, firings: [], isSkipped: true),
          MatchedChange(entry: work.changes[1].entry, firings: work.subscriptions),
        ]
        for _ in 0..<2 {
          let result = try await test.store.outbox.completeDispatch(
            of: matched, timestamp: TestStore.time(3))
          #expect(result.deferred.isEmpty)
        }
        #expect(
          await storeError { _ = try await test.log(since: token, limit: 10) }
            == .changeTokenExpired)
        #expect(try await test.logLines(of: TestStore.alice) == ["s a", "s c"])
        #expect(try await test.store.outbox.undispatchedDatabases().isEmpty)
      }
    }

    @Test(
      "of more changes than may wait for a subscriber the oldest are given up, and a reader learns of it",
      arguments: engines)
    func givenUp(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        _ = try await test.subscribe(noteSubscription("s"))
        try await test.save("a")
        try await test.dispatch()
        let token = try await test.log(since: nil, limit: 10).token
        for name in ["b", "c", "d", "e", "f"] { try await test.save(name) }
        let entries = try await test.outbox()
        try await test.store.outbox.completeDispatch(
          of: entries.map {
            var entry = $0
            entry.deferring = [TestStore.alice]
            return MatchedChange(entry: entry, firings: [])
          }, timestamp: TestStore.time(2))
        func work(ofAtMost most: Int) async throws -> DeferredWork? {
          try await test.store.outbox.deferredWork(
            of: TestStore.alice, in: .whole(test.publicID), limit: 10, ofAtMost: most)
        }
        let all = try #require(try await work(ofAtMost: 5))
        #expect(all.changes.count == 5)
        #expect(all.givenUp == 0)
        _ = try await test.log(since: token, limit: 10)
        let kept = try #require(try await work(ofAtMost: 2))
        #expect(kept.changes.map(\.entry.change.record?.recordID.recordName) == ["e", "f"])
        #expect(kept.givenUp == 3)
        #expect(try await work(ofAtMost: 2)?.givenUp == 0)
        #expect(
          await storeError { _ = try await test.log(since: token, limit: 10) }
            == .changeTokenExpired)
        let result = try await test.store.outbox.completeDispatch(
          of: kept.changes.map { MatchedChange(entry: $0.entry, firings: kept.subscriptions) },
          timestamp: TestStore.time(3))
        #expect(result.deferred.isEmpty)
        #expect(try await test.logLines(of: TestStore.alice) == ["s a", "s e", "s f"])
        #expect(try await test.store.outbox.undispatchedDatabases().isEmpty)
      }
    }

    @Test("a log is trimmed while it is written, not only by the maintenance", arguments: engines)
    func trims(_ engine: StoreEngine) async throws {
      func configure(_ configuration: inout StoreConfiguration) {
        configuration.notificationLog.entries = 100
      }
      try await engine.withStore(configure: configure) { test in
        for number in 0..<250 {
          _ = try await test.subscribe(noteSubscription("s\(1_000 + number)"))
        }
        _ = try await test.subscribe(noteSubscription("other"), as: TestStore.bob)
        for number in 0..<6 {
          try await test.save("r\(number)")
          try await test.dispatch()
        }
        // The limit, and what was logged since the log was last looked at.
        let log = try await test.logLines(of: TestStore.alice)
        #expect(log.count <= 100 + 250)
        #expect(log.last == "s1249 r5")
        #expect(try await test.logLines(of: TestStore.bob).count == 6)
      }
    }

    @Test("the notifications of one transaction have a limited size", arguments: engines)
    func bytes(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        for number in 0..<5 {
          _ = try await test.subscribe(noteSubscription("s\(number)", desiredKeys: ["text"]))
        }
        try await test.save("n", ["text": .string(String(repeating: "t", count: 10_000))])
        let entry = try #require(try await test.outbox().first)
        let firings = try await test.storedSubscriptions()
        var change = MatchedChange(entry: entry, firings: firings)
        test.store.outbox.prepare(&change, within: 25_000)
        #expect(change.firings == Array(firings.prefix(3)))
        #expect(!change.isWhole)
        change = MatchedChange(entry: entry, firings: firings)
        test.store.outbox.prepare(&change, within: 0)
        #expect(change.firings == Array(firings.prefix(1)))
        change = MatchedChange(entry: entry, firings: firings)
        test.store.outbox.prepare(&change, within: 1_000_000)
        #expect(change.firings == firings)
        #expect(change.isWhole)
      }
    }
  }
}

/// A plain dispatcher of the public database, with the notifications that it should have logged.
private struct PlainLane {
  let test: TestStore
  let limit: Int
  /// The number of records saved.
  private(set) var saved = 0
  /// The notifications that each user should get, in the order of the commits.
  private(set) var expected: [String: [String]] = [:]
  /// The notifications that were logged for each user.
  private(set) var written: [String: [String]] = [:]
  private(set) var failures: [String] = []
  /// The users whose `firesOnce` subscription has fired.
  private var consumed: Set<String> = []

  init(test: TestStore, limit: Int) {
    self.test = test
    self.limit = limit
  }

  private var part: DatabasePart { .whole(test.publicID) }

  /// Notes what a save should lead to.
  mutating func note(_ name: String, _ number: Int64) async throws {
    saved += 1
    for user in [TestStore.alice, TestStore.bob] {
      let change = try #require(try await test.outbox().last).change
      for stored in try await test.storedSubscriptions()
      where stored.subscriber == user && stored.subscription.matches(change) {
        if stored.subscription.firesOnce, !consumed.insert(user).inserted { continue }
        expected[user, default: []].append("\(stored.subscription.subscriptionID) \(name)")
      }
    }
  }

  private mutating func complete(_ changes: [MatchedChange]) async throws {
    let result = try await test.store.outbox.completeDispatch(
      of: changes, timestamp: TestStore.time(0))
    for entry in result.logged {
      written[entry.notification.subscriber, default: []].append(TestStore.line(entry))
    }
    // A repetition, as after a lost answer, does nothing.
    let again = try await test.store.outbox.completeDispatch(
      of: changes, timestamp: TestStore.time(0))
    if !again.logged.isEmpty { failures.append("logged again") }
  }

  /// Dispatches all changes. The subscribers are deferred from the second change on.
  mutating func dispatch(deferring: [String], firingLimit: Int) async throws {
    var first = true
    for entry in try await test.store.outbox.undispatchedChanges(
      in: part, after: .min, limit: 1_000)
    {
      var entry = entry
      if !first { entry.deferring = deferring }
      first = false
      var firings = try await test.storedSubscriptions()
        .filter { $0.subscription.matches(entry.change) }
        .sorted {
          ($0.subscriber, $0.subscription.subscriptionID) < (
            $1.subscriber, $1.subscription.subscriptionID
          )
        }[...]
      repeat {
        let piece = firings.prefix(firingLimit)
        firings = firings.dropFirst(firingLimit)
        try await complete([
          MatchedChange(entry: entry, firings: Array(piece), isWhole: firings.isEmpty)
        ])
        entry.settledThrough = piece.last?.name
        entry.deferring = []
      } while !firings.isEmpty
    }
  }

  /// Logs some deferred firings of the first deferred subscriber.
  ///
  /// - Returns: whether a subscriber was deferred.
  @discardableResult
  mutating func continueDeferral(
    changes count: Int, firings firingLimit: Int, _ comment: Comment
  ) async throws -> Bool {
    guard let user = try await test.store.outbox.deferredSubscribers(in: part).first else {
      return false
    }
    guard
      let work = try await test.store.outbox.deferredWork(
        of: user, in: part, limit: count, ofAtMost: 1_000)
    else { return true }
    #expect(work.entryLimit == limit)
    #expect(Set(work.changes.map(\.entry.deferral)) == [user], comment)
    var matched: [MatchedChange] = []
    for (place, change) in work.changes.enumerated() {
      var firings = work.subscriptions.filter { $0.subscription.matches(change.entry.change) }
      let newer = work.changes[(place + 1)...].reduce(0) { count, later in
        count
          + work.subscriptions.count {
            $0.subscription.matches(later.entry.change) && !$0.subscription.firesOnce
          }
      }
      if let last = change.entry.settledThrough {
        firings.removeAll { $0.subscription.subscriptionID <= last.subscriptionID }
      } else if newer >= limit {
        firings.removeAll { !$0.subscription.firesOnce }
        matched.append(MatchedChange(entry: change.entry, firings: firings, isSkipped: true))
        continue
      }
      let piece = Array(firings.prefix(firingLimit))
      matched.append(
        MatchedChange(
          entry: change.entry, firings: piece, isWhole: piece.count == firings.count))
      if piece.count < firings.count { break }
    }
    try await complete(matched)
    return true
  }
}

extension TestStore {
  fileprivate static func line(_ entry: LogEntry) -> String {
    "\(entry.notification.subscription.subscriptionID) "
      + (entry.notification.change.record?.recordID.recordName ?? "")
  }

  /// A user's whole log, from its beginning.
  fileprivate func logLines(of user: String) async throws -> [String] {
    var lines: [String] = []
    var token: String?
    while true {
      let page = try await store.notificationLog.notificationLog(
        of: Recipient(userRecordName: user, container: Self.container, environment: .development),
        since: token, limit: 200)
      for case .unread(let entry) in page.notifications { lines.append(Self.line(entry)) }
      guard page.moreComing else { return lines }
      token = page.token
    }
  }
}
