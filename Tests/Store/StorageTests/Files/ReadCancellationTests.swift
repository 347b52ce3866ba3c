import CloudKitModel
import Foundation
import PostgreSQLTesting
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import SQLEngine
@testable import Storage

struct ReadCancellationTests {
  /// Runs `body` with a store on PostgreSQL of which one thread reads.
  private func withReader(
    _ body: (Store, PostgreSQLAddress) async throws -> Void
  ) async throws {
    func configure(_ configuration: inout StoreConfiguration) { configuration.readers = 1 }
    try await ServerGroup.with(servers: 1, configure: configure) { group in
      try await body(group.store(0), group.address)
    }
  }

  /// A read whose caller may go.
  private func begin<Value: Sendable>(
    in store: Store, _ body: @escaping @Sendable (StoreTransaction) throws -> Value
  ) -> Task<Value, any Error> {
    Task { try await AbandonableReads.within { try await store.transactions.read(body) } }
  }

  private func outcome<Value>(of task: Task<Value, any Error>) async -> String {
    switch await task.result {
    case .success(let value): "\(value)"
    case .failure(let error): error is CancellationError ? "given up" : "\(error)"
    }
  }

  /// Takes that long in PostgreSQL, and answers the number of the process that did it.
  private static func pause(
    _ seconds: Double
  ) -> @Sendable (StoreTransaction) throws -> Int64 {
    { transaction in
      try transaction.connection.first(
        "SELECT pg_backend_pid()::int8 FROM pg_sleep($1::int8 / 1000000.0)",
        [.integer(Int64(seconds * 1_000_000))]
      ) { $0.integer(0) } ?? 0
    }
  }

  /// Asks PostgreSQL over a connection that has nothing to do with the store's.
  private func ask(_ address: PostgreSQLAddress, _ statement: Statement) async throws -> Int64 {
    try await Store.onThread {
      let connection = try PostgreSQLConnection(to: address)
      defer { connection.close() }
      return try connection.first(statement, []) { $0.integer(0) } ?? 0
    }
  }

  private static let pausing: Statement = """
    SELECT COUNT(*) FROM pg_stat_activity
    WHERE state = 'active' AND query LIKE '%FROM pg_sleep%' AND pid <> pg_backend_pid()
    """

  @Test("a statement that runs is ended, and the connection goes on being usable")
  func running() async throws {
    try await withReader { store, address in
      let process = try await store.transactions.read(Self.pause(0))
      for round in 1...3 {
        let read = begin(in: store, Self.pause(600))
        try await eventually("the statement runs") { try await ask(address, Self.pausing) == 1 }
        read.cancel()
        #expect(await outcome(of: read) == "given up")
        #expect(try await ask(address, Self.pausing) == 0)
        let next = try await store.transactions.read(Self.pause(0))
        #expect(next == process)
        #expect(store.metrics.abandonedReads == (0, round))
      }
    }
  }

  @Test("one that waits for a lock is ended while that is held")
  func locked() async throws {
    try await withReader { store, address in
      let holder = try PostgreSQLConnection(to: address)
      defer { holder.close() }
      try holder.execute("BEGIN; LOCK TABLE records IN ACCESS EXCLUSIVE MODE")
      let read = begin(in: store) { transaction in
        try transaction.connection.first("SELECT COUNT(*) FROM records", []) { $0.integer(0) }
      }
      let waiting: Statement = "SELECT COUNT(*) FROM pg_locks WHERE NOT granted"
      try await eventually("it waits") { try holder.first(waiting, []) { $0.integer(0) } == 1 }
      read.cancel()
      #expect(await outcome(of: read) == "given up")
      #expect(try holder.first(waiting, []) { $0.integer(0) } == 0)
      try holder.execute("ROLLBACK")
    }
  }

  @Test("the rows that nobody has come for yet are not fetched")
  func rows() async throws {
    try await withReader { store, _ in
      let hasBegun = Flag()
      let read = begin(in: store) { transaction in
        try transaction.connection.query("SELECT generate_series(1, 1000000000)::int8", []) { _ in
          hasBegun.raise()
        }
      }
      try await eventually("the first row is there") { hasBegun.isUp }
      read.cancel()
      #expect(await outcome(of: read) == "given up")
    }
  }

  @Test("one that is between two statements begins no other")
  func betweenStatements() async throws {
    try await withReader { store, _ in
      let (hasBegun, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let hasEnded = Flag()
      let read = begin(in: store) { transaction in
        hasBegun.signal()
        mayGoOn.wait()
        _ = try Self.pause(0)(transaction)
        hasEnded.raise()
      }
      await Store.wait(for: hasBegun)
      read.cancel()
      mayGoOn.signal()
      #expect(await outcome(of: read) == "given up")
      #expect(!hasEnded.isUp)
      let next = try await store.transactions.read(Self.pause(0))
      #expect(next > 0)
    }
  }

  /// Counts for longer than anybody waits, in SQLite.
  private static let endless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "

  @Test("in a file a statement that runs is ended, however it runs, and the next one is not")
  func runningInFile() async throws {
    try await withStore(inFile: true) { store in
      let reads: [@Sendable (StoreTransaction, Flag) throws -> Void] = [
        // One statement that has no row yet; it has begun when the tally says so.
        { transaction, hasBegun in
          hasBegun.raise()
          _ = try transaction.connection.first("\(Self.endless)COUNT(*) FROM n", []) {
            $0.integer(0)
          }
        },
        // One statement of many rows.
        { transaction, hasBegun in
          try transaction.connection.query("\(Self.endless)i FROM n", []) { _ in hasBegun.raise() }
        },
        // Many statements of one row.
        { transaction, hasBegun in
          while true {
            _ = try transaction.connection.first("SELECT 1", []) { $0.integer(0) }
            hasBegun.raise()
          }
        },
      ]
      for (index, body) in reads.enumerated() {
        let hasBegun = Flag()
        let read = begin(in: store) { try body($0, hasBegun) }
        try await eventually("the read runs") { hasBegun.isUp }
        read.cancel()
        #expect(await outcome(of: read) == "given up")
        #expect(store.metrics.abandonedReads == (0, index + 1))
        let next = try await store.transactions.read { transaction in
          try transaction.connection.first("SELECT 7", []) { $0.integer(0) }
        }
        #expect(next == 7)
      }
    }
  }

  @Test("one that waits in the queue is not begun", arguments: [true, false])
  func waiting(isInFile: Bool) async throws {
    try await withStore(inFile: isInFile) { store in
      let (hasBegun, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let first = begin(in: store) { _ in
        hasBegun.signal()
        mayGoOn.wait()
        return "done"
      }
      await Store.wait(for: hasBegun)
      let wasBegun = Flag()
      let others = (0..<5).map { _ in begin(in: store) { _ in wasBegun.raise() } }
      let last = begin(in: store) { _ in "done too" }
      try await eventually("the others wait") { store.metrics.waitingReads == 6 }
      for other in others { other.cancel() }
      mayGoOn.signal()
      #expect(await outcome(of: first) == "done")
      for other in others { #expect(await outcome(of: other) == "given up") }
      #expect(await outcome(of: last) == "done too")
      #expect(!wasBegun.isUp)
      #expect(store.metrics.abandonedReads == (5, 0))
    }
  }

  private func withStore(
    inFile: Bool, _ body: (Store) async throws -> Void
  ) async throws {
    guard inFile else { return try await withReader { store, _ in try await body(store) } }
    let directory = NSTemporaryDirectory() + "petrel-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    var configuration = StoreConfiguration()
    configuration.readers = 1
    let store = try await Store.open(
      at: directory + "/petrel.sqlite", configuration: configuration)
    try await body(store)
    await store.close()
  }

  @Test("work that finishes what it has begun reads on")
  func unabandonable() async throws {
    try await withReader { store, address in
      let read = Task { try await store.transactions.read(Self.pause(0.2)) }
      try await eventually("the statement runs") { try await ask(address, Self.pausing) == 1 }
      read.cancel()
      let found = try await read.value
      #expect(found > 0)
      #expect(store.metrics.abandonedReads == (0, 0))
    }
  }

  @Test("a read that word meant for the one before hits is done again, and only that one")
  func lateWord() async throws {
    try await withReader { store, address in
      let abandoned = begin(in: store, Self.pause(600))
      try await eventually("the statement runs") { try await ask(address, Self.pausing) == 1 }
      abandoned.cancel()
      #expect(await outcome(of: abandoned) == "given up")
      let turns = Turns()
      func read() async throws -> Int64 {
        let mayEnd = Flag()
        let read = Task {
          try await store.transactions.read { transaction in
            turns.count()
            return try Self.pause(mayEnd.isUp ? 0 : 600)(transaction)
          }
        }
        try await eventually("the next statement runs") {
          try await ask(address, Self.pausing) == 1
        }
        mayEnd.raise()
        _ = try await ask(
          address,
          """
          SELECT COUNT(pg_cancel_backend(pid)) FROM pg_stat_activity
          WHERE state = 'active' AND query LIKE '%FROM pg_sleep%' AND pid <> pg_backend_pid()
          """)
        return try await read.value
      }
      let found = try await read()
      #expect(found > 0)
      #expect(turns.total == 2)
      let failure = await #expect(throws: StoreError.self) { _ = try await read() }
      #expect(failure?.code == .overloaded)
      #expect(turns.total == 3)
    }
  }

  @Test("cancelling that races with the end of a read never hits the next one")
  func races() async throws {
    try await withReader { store, _ in
      let process = try await store.transactions.read(Self.pause(0))
      var outcomes: [String: Int] = [:]
      let turns = Turns()
      for round in 0..<400 {
        let moment = Moment(rawValue: round % Moment.allCases.count)
        let (isMoment, signal) = AsyncStream.makeStream(of: Void.self)
        let read = begin(in: store) { transaction in
          if moment == .beforeStatement { signal.finish() }
          let process = try Self.pause(.random(in: 0...0.003))(transaction)
          if moment == .afterStatement {
            signal.finish()
            for _ in 0..<Int.random(in: 0...200) { sched_yield() }
          }
          return process
        }
        let cancelling = Task {
          switch moment {
          case .beforeStatement, .afterStatement: for await _ in isMoment {}
          case .afterEnd: _ = await read.result
          default: break
          }
          for _ in 0..<Int.random(in: 0...200) { await Task.yield() }
          read.cancel()
        }
        // Right behind it on the same connection.
        let next = Task {
          try await store.transactions.read { transaction in
            turns.count()
            _ = try Self.pause(0.0005)(transaction)
            return try Self.pause(0)(transaction)
          }
        }
        #expect(try await next.value == process, "in round \(round)")
        await cancelling.value
        outcomes[await outcome(of: read), default: 0] += 1
      }
      #expect(turns.total == 400, "one was done again")
      #expect(Set(outcomes.keys) == ["given up", "\(process)"])
    }
  }
}

/// When a read is cancelled, or a few turns of the threads later.
private enum Moment: Int, CaseIterable {
  case atOnce, beforeStatement, afterStatement, afterEnd
}

/// How often something was begun.
private final class Turns: Sendable {
  private let value = Atomic(0)

  var total: Int { value.load(ordering: .relaxed) }

  func count() { value.add(1, ordering: .relaxed) }
}

extension Store {
  /// Waits on a thread of its own.
  fileprivate static func wait(for semaphore: DispatchSemaphore) async {
    try? await onThread { semaphore.wait() }
  }
}
