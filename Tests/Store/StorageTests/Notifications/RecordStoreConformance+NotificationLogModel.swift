import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  struct NotificationLogAgainstModel {
    /// Random notifications, marks and trims, followed by readers that page at their own pace. Each
    /// reader sees the entries that the model says it has not seen, in order, and learns when it
    /// missed some.
    @Test(
      "readers see each change once, or that they missed one", arguments: StoreEngine.allCases,
      Seeds.some(2))
    func random(_ engine: StoreEngine, _ seed: Int) async throws {
      let unfiled = [65_536, 1, 4, 15][Int(seed % 4)]
      func configure(_ configuration: inout StoreConfiguration) {
        configuration.tuning.unfiledNotifications = unfiled
      }
      try await engine.withStore(configure: configure) { test in
        var random = SeededGenerator(seed: seed)
        var model = LogModel()
        var readers = [Reader()]
        try await test.subscribeForModel()
        for round in 0..<250 {
          let comment: Comment = "seed \(seed), round \(round)"
          model.now += Int64.random(in: 0...2 * 24 * 3600, using: &random)
          switch Int.random(in: 0..<12, using: &random) {
          case 0..<4:
            let database = Bool.random(using: &random) ? test.publicID : test.privateID
            for _ in 0..<Int.random(in: 1...3, using: &random) {
              try await test.save(
                "r\(Int.random(in: 0..<5, using: &random))",
                ["n": .int64(Int64.random(in: 0...3, using: &random))], in: database)
            }
            let logged = try await test.dispatch(database, at: model.now).logged
            for entry in logged where entry.notification.subscriber == TestStore.alice {
              model.log(entry, for: &readers)
            }
          case 4..<6:
            var ids = (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in
              model.current.randomElement(using: &random)?.key.notificationID
            }
            if random.chance(1, in: 3) { ids.append(UUID()) }
            let known = Set(model.current.keys.map(\.notificationID)).intersection(ids)
            #expect(try await test.mark(ids, at: model.now) == known, comment)
            for id in ids where known.contains(id) {
              model.mark(id, in: test, for: &readers)
            }
          case 6:
            try await test.store.maintenance.trim(at: TestStore.time(model.now))
            model.trim(for: &readers)
          case 7:
            readers.append(readers.randomElement(using: &random) ?? Reader())
          case 8:
            readers.append(Reader(unseen: Set(model.current.keys)))
          default:
            let index = Int.random(in: 0..<readers.count, using: &random)
            let limit = Int.random(in: 1...6, using: &random)
            try await read(&readers[index], limit, model, in: test, comment)
          }
        }
        for index in readers.indices {
          while !readers[index].unseen.isEmpty || readers[index].hasMissed {
            try await read(&readers[index], 3, model, in: test, "seed \(seed), at the end")
          }
        }
      }
    }

    private func read(
      _ reader: inout Reader, _ limit: Int, _ model: LogModel, in test: TestStore,
      _ comment: Comment
    ) async throws {
      if reader.hasMissed {
        let token = reader.token
        let error = await storeError { _ = try await test.log(since: token, limit: limit) }
        #expect(error == .changeTokenExpired, comment)
        reader = Reader(unseen: Set(model.current.keys))
        return
      }
      let expected = reader.unseen.sorted { model.isOlder($0, $1) }.prefix(limit)
      let page = try await test.log(since: reader.token, limit: limit)
      #expect(page.notifications.map(ChangeKey.init) == Array(expected), comment)
      reader.unseen.subtract(expected)
      reader.token = page.token
      #expect(page.moreComing == !reader.unseen.isEmpty, comment)
      // Whatever went wrong, a loop over pages ends.
      if page.notifications.isEmpty { reader.unseen = [] }
    }
  }
}

/// A change of a user's log.
private enum ChangeKey: Hashable {
  case entry(notificationID: UUID, subscriptionID: String)
  case mark(notificationID: UUID)

  init(_ notification: LoggedNotification) {
    switch notification {
    case .unread(let entry):
      self = .entry(
        notificationID: entry.notification.change.notificationID,
        subscriptionID: entry.notification.subscription.subscriptionID)
    case .read(let notificationID, _): self = .mark(notificationID: notificationID)
    }
  }

  var notificationID: UUID {
    switch self {
    case .entry(let id, _), .mark(let id): id
    }
  }
}

private struct Reader {
  var token: String?
  var unseen: Set<ChangeKey> = []
  var hasMissed = false
}

/// The log as a list of changes with their times.
private struct LogModel {
  struct Change {
    var database: DatabaseID
    var moment: Int64
    var number: Int
  }

  var now: Int64 = 0
  private(set) var current: [ChangeKey: Change] = [:]
  private var count = 0

  func isOlder(_ left: ChangeKey, _ right: ChangeKey) -> Bool {
    guard let first = current[left], let second = current[right] else { return false }
    return (first.moment, first.database, first.number)
      < (second.moment, second.database, second.number)
  }

  private mutating func add(_ key: ChangeKey, _ database: DatabaseID, _ readers: inout [Reader]) {
    count += 1
    current[key] = Change(database: database, moment: now, number: count)
    for index in readers.indices { readers[index].unseen.insert(key) }
  }

  mutating func log(_ entry: LogEntry, for readers: inout [Reader]) {
    add(ChangeKey(.unread(entry)), entry.database, &readers)
  }

  mutating func mark(_ id: UUID, in test: TestStore, for readers: inout [Reader]) {
    guard current[.mark(notificationID: id)] == nil else { return }
    var database = test.publicID
    for (key, change) in current where key.notificationID == id {
      database = change.database
      current[key] = nil
      for index in readers.indices { readers[index].unseen.remove(key) }
    }
    add(.mark(notificationID: id), database, &readers)
  }

  mutating func trim(for readers: inout [Reader]) {
    for (key, change) in current where change.moment < now - 30 * 24 * 3600 {
      current[key] = nil
      for index in readers.indices where readers[index].unseen.remove(key) != nil {
        // One that has no token begins, whatever is gone.
        if readers[index].token != nil { readers[index].hasMissed = true }
      }
    }
  }
}

extension TestStore {
  /// Subscriptions of two users to two databases, of which a record fires up to three.
  fileprivate func subscribeForModel() async throws {
    for (name, least) in [("a", 1), ("b", 2)] as [(String, Int64)] {
      let filter = Filter(.field("n"), .greaterThanOrEquals, .int64(least))
      _ = try await subscribe(noteSubscription(name, filters: [filter]))
      _ = try await subscribe(noteSubscription("private-" + name, filters: [filter]), in: privateID)
    }
    _ = try await subscribe(noteSubscription("a"), as: Self.bob)
  }
}
