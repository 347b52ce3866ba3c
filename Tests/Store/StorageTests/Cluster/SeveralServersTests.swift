import CloudKitModel
import Foundation
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import Storage

struct SeveralServersTests {
  @Test("those that come to an empty place at once make one store of it")
  func opening() async throws {
    for _ in 0..<3 {
      try await ServerGroup.with(servers: 5) { group in
        #expect(Set(group.servers.map(\.publicID)).count == 1)
        #expect(Set(group.servers.map(\.privateID)).count == 1)
        let counts = try await group.integers(
          """
          SELECT COUNT(*) FROM schema_version UNION ALL SELECT COUNT(*) FROM databases
          UNION ALL SELECT value FROM counters WHERE name = 'database'
          """)
        #expect(counts == [1, 2, 2])
      }
    }
  }

  @Test("a commit that several writes share has the locks of all of them")
  func sharedLocks() async throws {
    try await ServerGroup.with(servers: 1) {
      $0.writers = 1
    } _: { group in
      let (test, store) = (group.servers[0], group.store(0))
      // While one write holds the writer, the others gather for the next commit.
      let held = try await Held(.everything, in: store)
      async let publicSave = test.save("a")
      async let privateSave = test.save("b", in: test.privateID)
      try await eventually("both wait for the writer") {
        store.transactions.writer.queue.count >= 2
      }
      try await held.release()
      _ = try await (publicSave, privateSave)
    }
  }

  @Test("writes to different databases go side by side, of one server and of several")
  func sideBySide() async throws {
    try await ServerGroup.with(servers: 2) { group in
      let (first, second) = (group.servers[0], group.servers[1])
      try await first.save("known")
      let held = try await Held(.database(first.privateID), in: group.store(0))
      // New types and fields take the lock of the reference tables, which is free.
      try await first.save("a", type: "New")
      try await second.save("b", ["field": .int64(1)])
      _ = try await second.store.accounts.addUser(named: "anna", at: .now)
      try await held.release()
      #expect(try await group.servers[1].record("a") != nil)
    }
  }

  @Test(
    "a write waits for one of another server that has its lock",
    arguments: [WriteLocks.reference, .everything, .database(DatabaseID(rawValue: 1))])
  func waiting(_ locks: WriteLocks) async throws {
    try await ServerGroup.with(servers: 2) { group in
      let held = try await Held(locks, in: group.store(0))
      let order = Mutex<[String]>([])
      let store = group.store(1)
      async let second: Void = store.transactions.write(locking: locks) { _ in
        order.withLock { $0.append("second") }
      }
      try await eventually("it waits for the lock") { try await group.waitingCount() > 0 }
      order.withLock { $0.append("released") }
      try await held.release()
      try await second
      #expect(order.withLock { $0 } == ["released", "second"])
    }
  }

  @Test("who has everything waits for saves under way, and saves wait for it")
  func everything() async throws {
    try await ServerGroup.with(servers: 2) { group in
      let store = group.store(1)
      let database = group.servers[0].publicID
      let saving = try await Held(.database(database), in: group.store(0))
      let order = Mutex<[String]>([])
      async let all: Void = store.transactions.write(locking: .everything) { _ in
        order.withLock { $0.append("all") }
      }
      try await eventually("it waits for the save") { try await group.waitingCount() > 0 }
      order.withLock { $0.append("saved") }
      try await saving.release()
      try await all
      #expect(order.withLock { $0 } == ["saved", "all"])

      let held = try await Held(.everything, in: group.store(0))
      async let record = group.servers[1].save("a")
      try await eventually("the save waits") { try await group.waitingCount() > 0 }
      try await held.release()
      _ = try await record
    }
  }

  @Test("numbers of a database are not drawn without its lock, nor those of the store")
  func forgotten() async throws {
    try await ServerGroup.with(servers: 1) { group in
      let (store, database) = (group.store(0), group.servers[0].publicID)
      for locks in [WriteLocks.rows, .reference, .database(group.servers[0].privateID)] {
        let refusal = await #expect(throws: StoreError.self) {
          try await store.transactions.write(locking: locks) {
            _ = try DatabaseTable(transaction: $0).nextNumber(of: database)
          }
        }
        #expect(
          refusal?.reason == "a write to database \(database.rawValue) has not locked the database")
        await #expect(throws: StoreError.self) {
          try await store.transactions.write(locking: locks) {
            _ = try DatabaseTable(transaction: $0).raiseSubscriptionVersion(of: database)
          }
        }
      }
      let attempts = Mutex<[WriteLocks.Reach]>([])
      try await store.transactions.write(locking: .database(database)) { transaction in
        attempts.withLock { $0.append(transaction.locks?.reach ?? .everything) }
        _ = try CounterTable(transaction: transaction).next("record_type")
      }
      #expect(attempts.withLock { $0 } == [.rows, .reference])
    }
  }

  @Test(
    "a server that stands still in a transaction loses it, and with it the locks, and writes again")
  func standstill() async throws {
    try await ServerGroup.with(servers: 2) {
      $0.tuning.lockedIdleTimeoutMilliseconds = 100
      $0.tuning.idleTimeoutMilliseconds = 12_345
    } _: { group in
      let (first, second) = (group.store(0), group.servers[1])
      let doubts = Mutex(0)
      first.outbox.setDoubtHandler { doubts.withLock { $0 += 1 } }
      let timeouts = Mutex<[String?]>([])
      let held = try await Held(.database(second.publicID), in: first) { transaction in
        let timeout = try transaction.connection.first(
          "SHOW idle_in_transaction_session_timeout", []
        ) { $0.text(0) }
        timeouts.withLock { $0.append(timeout) }
      }
      try await second.save("a")
      try await held.release()
      #expect(timeouts.withLock { $0 } == ["100ms", "12345ms"])
      try await group.servers[0].save("b")
      #expect(try await second.record("b") != nil)
      #expect(doubts.withLock { $0 } == 0)
    }
  }

  @Test("a doubt of one writer is over when its own transaction is, whatever the others do")
  func doubt() async throws {
    try await ServerGroup.with(servers: 1) { group in
      let (store, test) = (group.store(0), group.servers[0])
      let doubts = Mutex(0)
      store.outbox.setDoubtHandler { doubts.withLock { $0 += 1 } }
      let gate = DispatchSemaphore(value: 0)
      let process = Mutex<Int64?>(nil)
      async let lost = storeError {
        try await store.transactions.write(locking: .database(test.privateID)) { transaction in
          let number = try transaction.connection.first("SELECT pg_backend_pid()", []) {
            $0.integer(0)
          }
          process.withLock { $0 = number }
          gate.wait()
          try transaction.connection.run("SELECT 1", [])
        }
      }
      try await eventually("it is in its transaction") { process.withLock { $0 } != nil }
      let number = try #require(process.withLock { $0 })
      _ = try await group.integers("SELECT pg_terminate_backend(\(number)::int)::int::int8")
      try await test.save("other")
      #expect(doubts.withLock { $0 } == 0)
      gate.signal()
      #expect(await lost == .unreachable)
      try await eventually("it is decided") { doubts.withLock { $0 } == 1 }
    }
  }
}

/// A write that has its locks and goes no further until it may.
final class Held: Sendable {
  private let gate = DispatchSemaphore(value: 0)
  private let task: Task<Void, any Error>

  /// Comes back when the write has its locks.
  ///
  /// - Parameter begin: what the write does as soon as it has its locks.
  init(
    _ locks: WriteLocks, in store: Store,
    begin: @escaping @Sendable (StoreTransaction) throws -> Void = { _ in }
  ) async throws {
    let gate = gate
    let isThere = Mutex(false)
    let task = Task {
      try await store.transactions.write(locking: locks) { transaction in
        try begin(transaction)
        isThere.withLock { $0 = true }
        // A repetition does not wait.
        gate.wait()
        gate.signal()
        // Whether the transaction is still there.
        _ = try transaction.connection.first("SELECT 1", []) { _ in true }
      }
    }
    self.task = task
    try await eventually("the write has its locks") { isThere.withLock { $0 } }
  }

  func release() async throws {
    gate.signal()
    try await task.value
  }
}
