import CloudKitModel
import Foundation
import StoreModel
import Testing

@testable import Storage

struct NotificationFilingTests {
  private static let users = (0..<40).map { "_user\($0)" }

  private func configuration(
    _ role: StoreConfiguration.Role = .server, unfiled: Int = 100
  ) -> StoreConfiguration {
    var configuration = StoreConfiguration(role: role)
    configuration.tuning.cacheKilobytes = 4096
    configuration.tuning.unfiledNotifications = unfiled
    return configuration
  }

  private func open(
    _ path: String, _ configuration: StoreConfiguration
  ) async throws -> (store: Store, test: TestStore) {
    let store = try await Store.open(at: path, configuration: configuration)
    return (store, try await TestStore(store))
  }

  /// The sequences of a user's log, read page by page.
  private func sequences(of user: String, in store: Store) async throws -> [Int64] {
    let recipient = Recipient(
      userRecordName: user, container: TestStore.container, environment: .development)
    var sequences: [Int64] = []
    var token: String?
    while true {
      let page = try await store.notificationLog.notificationLog(
        of: recipient, since: token, limit: 7)
      for case .unread(let entry) in page.notifications { sequences.append(entry.sequence) }
      guard page.moreComing else { return sequences }
      token = page.token
    }
  }

  @Test(
    "whatever is filed, merged or read again after a restart, each log has its entries once, in order"
  )
  func restarts() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      var expected: [String: [Int64]] = [:]
      var number = 0
      for round in 0..<12 {
        let (store, test) = try await open(path, configuration())
        if round == 0 {
          for user in Self.users {
            _ = try await test.subscribe(noteSubscription("s"), as: user)
          }
        }
        for _ in 0..<(round % 5 * 11 + 3) {
          try await test.save("n\(number)")
          number += 1
          for entry in try await test.dispatch().logged {
            expected[entry.notification.subscriber, default: []].append(entry.sequence)
          }
          // While those that waited are filed, half as many come; and a commit brings forty.
          #expect((store.tail?.count ?? 0) <= (100 + 2 * Self.users.count) * 3 / 2 + 40)
          let user = Self.users[number % Self.users.count]
          #expect(try await sequences(of: user, in: store) == expected[user])
        }
        await store.close()
        // A process that is killed while it makes a run leaves it unfinished, as closing does.
        let (tool, beside) = try await open(path, configuration(.tool))
        for user in Self.users {
          #expect(try await sequences(of: user, in: beside.store) == expected[user], "\(user)")
        }
        await tool.close()
      }
      let (store, _) = try await open(path, configuration())
      let runs = try await store.transactions.read { transaction in
        try transaction.connection.rows("SELECT run FROM notification_runs", []) { $0.integer(0) }
      }
      let filed = try await store.transactions.read { transaction in
        try transaction.connection.first("SELECT COUNT(*) FROM notification_index", []) {
          $0.integer(0)
        }
      }
      let all = number * Self.users.count
      #expect(runs.count < all / 100 / 2, "\(runs.count) runs of \(all) entries")
      #expect(filed.map { Int($0) + (store.tail?.count ?? 0) } == all)
      await store.close()
    }
  }

  @Test("trimming finds the entries of a commit as soon as a reader does")
  func trimmingAtOnce() async throws {
    try await StoreEngine.sqliteFile.withStore { test in
      _ = try await test.subscribe(noteSubscription("s"))
      let store = test.store
      for round in 0..<200 {
        try await test.save("n\(round)")
        async let dispatch = test.dispatch()
        var isLogged = false
        while !isLogged {
          isLogged =
            try await store.transactions.read {
              try $0.connection.first("SELECT 1 FROM notification_log LIMIT 1", []) { _ in true }
            } ?? false
        }
        try await test.store.maintenance.trim(at: TestStore.time(40 * 86_400))
        #expect(try await sequences(of: TestStore.alice, in: test.store).isEmpty)
        _ = try await dispatch
      }
    }
  }

  @Test("a change that fires very many has its entries filed at once")
  func many() async throws {
    try await StoreEngine.sqliteFile.withStore { test in
      let users = (0..<NotificationIndexTable.firingsFiledAtOnce).map { "_many\($0)" }
      for user in users { _ = try await test.subscribe(noteSubscription("s"), as: user) }
      try await test.save("a")
      #expect(try await test.dispatch().logged.count == users.count)
      let store = test.store
      #expect((store.tail?.count ?? 0) == 0)
      for user in users {
        #expect(try await sequences(of: user, in: test.store).count == 1)
      }
    }
  }

  @Test("what a transaction logged that was rolled back is not filed later")
  func rollback() async throws {
    struct Refusal: Error {}
    try await StoreEngine.sqliteInMemory.withStore { test in
      let store = test.store
      let row = NotificationIndexRow(
        of: Change(
          event: .recordCreated, zoneID: .default, record: nil, notificationID: UUID(),
          timestamp: TestStore.time(0)), for: TestStore.alice, in: test.publicID, sequence: 1,
        logged: TestStore.time(0), bytes: 1)
      await #expect(throws: Refusal.self) {
        try await store.transactions.write { transaction in
          transaction.tailChange.added.append(row)
          throw Refusal()
        }
      }
      #expect((store.tail?.count ?? 0) == 0)
      try await store.transactions.write { $0.tailChange.added.append(row) }
      #expect((store.tail?.count ?? 0) == 1)
    }
  }

  @Test("a reader whose transaction began before a run was whole does not trust the memory")
  func outdatedReader() throws {
    let row = NotificationIndexRow(
      of: Change(
        event: .recordCreated, zoneID: .default, record: nil, notificationID: UUID(),
        timestamp: TestStore.time(0)), for: TestStore.alice, in: DatabaseID(rawValue: 1),
      sequence: 1, logged: TestStore.time(0), bytes: 1)
    let tail = NotificationTail(
      capacity: 1, rows: [row], marked: [row.database], generation: 1, merging: nil)
    let before = tail.wholeRuns
    var begun = NotificationTail.Change()
    begun.begun = 1
    tail.apply(begun)
    #expect(tail.rows(of: TestStore.alice, since: before) == [row])
    let next = try #require(tail.filing).next(10)
    #expect(next.rows == [row] && next.isLast)
    var filed = NotificationTail.Change()
    filed.filedSubscribers = next.subscribers
    filed.isWhole = true
    tail.apply(filed)
    #expect(tail.rows(of: TestStore.alice, since: before) == nil)
    #expect(tail.rows(of: TestStore.alice, since: tail.wholeRuns) == [])
    #expect(tail.count == 0)
  }

  @Test("a reader does not see what was logged since its transaction began")
  func laterEntries() async throws {
    try await StoreEngine.sqliteFile.withStore { test in
      let store = test.store
      _ = try await test.subscribe(noteSubscription("s"))
      try await test.save("before")
      let logged = try await test.dispatch().logged.map(\.sequence)
      let (began, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let reading = Task {
        try await store.transactions.read { transaction in
          began.signal()
          goesOn.wait()
          return try NotificationIndexTable(transaction: transaction)
            .unfiledRows(of: TestStore.alice).map(\.sequence)
        }
      }
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          began.wait()
          continuation.resume()
        }
      }
      try await test.save("after")
      let later = try await test.dispatch().logged.map(\.sequence)
      goesOn.signal()
      #expect(try await reading.value == logged)
      #expect(try await sequences(of: TestStore.alice, in: store) == logged + later)
    }
  }

  @Test("what memory has for the index is not trimmed, whether a run has it already or not")
  func trimming() async throws {
    try await StoreEngine.sqliteFile.withStore(configure: Self.fileSoon) { test in
      let store = test.store
      for user in Self.users { _ = try await test.subscribe(noteSubscription("s"), as: user) }
      let other = Subscription(
        subscriptionID: "o", kind: .query(Query(recordType: "Other"), zoneID: nil, options: .events)
      )
      _ = try await test.subscribe(other)
      try await test.save("n")
      try await test.dispatch()
      // The first begins a run, each of the next files two entries.
      for number in 0..<4 {
        try await test.save("o\(number)", type: "Other")
        try await test.dispatch()
      }
      let filed = try await store.transactions.read { transaction in
        try transaction.connection.first("SELECT COUNT(*) FROM notification_index", []) {
          $0.integer(0)
        }
      }
      #expect(filed == 6)
      let horizon = TestStore.time(1_000_000).milliseconds
      let dropped = try await store.transactions.write {
        try LogTrimming(in: $0)
          .drop(entries: NotificationLogTable(transaction: $0).old(before: horizon))
      }
      #expect(dropped == 0)
      for user in Self.users { #expect(try await sequences(of: user, in: store).count == 1) }
      #expect(try await sequences(of: TestStore.alice, in: store).count == 4)
      try await store.maintenance.trim(at: TestStore.time(1_000_000 + 31 * 24 * 3600))
      for user in Self.users + [TestStore.alice] {
        #expect(try await sequences(of: user, in: store) == [])
      }
    }
  }

  private static func fileSoon(_ configuration: inout StoreConfiguration) {
    configuration.tuning.unfiledNotifications = 1
  }
}
