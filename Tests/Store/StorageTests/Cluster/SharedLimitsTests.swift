import CloudKitModel
import PostgreSQLTesting
import PropertyTesting
import StoreModel
import Synchronization
import Testing

@testable import SQLEngine
@testable import Storage

struct SharedLimitsTests {
  private static let second: Int64 = 1_000_000_000
  private static let start: Int64 = 1_700_000_000 * second

  /// A store whose database has the time that the test sets.
  private func withStore(
    _ body: (Store, PostgreSQLAddress, _ time: Clock) async throws -> Void
  ) async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    let address = try PostgreSQLAddress(schema.address)
    let clock = Clock(Self.start)
    var configuration = StoreConfiguration()
    configuration.steeredTime = { clock.time.withLock { $0 } }
    let store = try await Store.open(
      at: .postgreSQL(address, assets: nil), configuration: configuration)
    try await body(store, address, clock)
    await store.close()
    try await PostgreSQLServer.shared.drop(schema)
  }

  private func subject(_ number: Int) -> LimitSubject {
    LimitSubject(hash: [UInt8](repeating: UInt8(number), count: 32))
  }

  @Test("draws give what a plain bucket would", arguments: Seeds.some(4))
  func model(seed: Int) async throws {
    try await withStore { store, _, clock in
      let limits = try #require(store.limits)
      var generator = SeededGenerator(seed: seed)
      let interval = [Self.second / 3, Self.second, 7, 40 * Self.second][seed % 4]
      let capacity: Int64 = [30, 1, 1000, 5][seed % 4]
      // How much is in each bucket, in nanoseconds of filling.
      var levels: [LimitSubject: (level: Int64, time: Int64)] = [:]
      for _ in 0..<400 {
        let now = clock.time.withLock { time in
          time += Int64.random(in: 0...interval * 4, using: &generator)
          return time
        }
        let draw = AllowanceDraw(
          subject: subject(generator.pick(0..<3)), interval: interval, capacity: capacity,
          needed: Int64.random(in: 0...4, using: &generator),
          extra: Int64.random(in: 0...capacity / 4, using: &generator))
        let full = capacity * interval
        let known = levels[draw.subject] ?? (full, now)
        var level = min(full, known.level + now - known.time)
        let granted = draw.granted(of: level / interval)
        level -= granted * interval
        levels[draw.subject] = (level, now)
        let allowance = try await limits.draw(draw)
        #expect(allowance == Allowance(granted: granted, fullIn: full - level))
        if granted == 0, draw.needed > 0 {
          #expect(allowance.wait(after: draw) == interval - level)
        }
        if generator.chance(1, in: 50) { try await limits.sweep() }
      }
    }
  }

  @Test("time that goes back a little gives nothing; a clock that was set back, an empty bucket")
  func backwards() async throws {
    try await withStore { store, _, clock in
      let limits = try #require(store.limits)
      func draw(_ needed: Int64, at seconds: Int64) async throws -> Allowance {
        clock.time.withLock { $0 = Self.start + seconds * Self.second }
        return try await limits.draw(
          AllowanceDraw(
            subject: subject(1), interval: Self.second, capacity: 4, needed: needed, extra: 0))
      }
      #expect(try await draw(4, at: 0).granted == 4)
      #expect(try await draw(1, at: -3).granted == 0)
      #expect(try await draw(1, at: 1).granted == 1)
      // An hour back: the bucket fills from there.
      #expect(try await draw(1, at: -3600).granted == 0)
      #expect(try await draw(4, at: -3597).granted == 3)
    }
  }

  @Test("what many connections draw at the same moment is what there is, by the database's clock")
  func concurrent() async throws {
    try await withStore { _, address, _ in
      let granted = try await withThrowingTaskGroup(of: Int64.self) { group in
        for _ in 0..<4 {
          group.addTask {
            try await Store.onThread {
              let connection = try PostgreSQLConnection(to: address)
              defer { connection.close() }
              let transaction = StoreTransaction(
                over: StoreConnection(over: connection, try StoreContext()))
              return try (0..<60).reduce(0) { sum, _ in
                try sum
                  + SharedLimitTable(transaction: transaction).draw(
                    AllowanceDraw(
                      subject: LimitSubject(hash: [UInt8](repeating: 9, count: 16)),
                      interval: 3600 * Self.second, capacity: 100, needed: 1, extra: 1)
                  ).granted
              }
            }
          }
        }
        return try await group.reduce(0, +)
      }
      #expect(granted == 100)
    }
  }

  @Test("full buckets and old attempts are swept, others stay")
  func sweeping() async throws {
    try await withStore { store, _, clock in
      let limits = try #require(store.limits)
      for number in 0..<3 {
        _ = try await limits.draw(
          AllowanceDraw(
            subject: subject(number), interval: Self.second, capacity: 10,
            needed: Int64(number) * 3, extra: 0))
        _ = try await limits.attempt(by: [subject(number)]) { histories, now in
          histories = [AttemptHistory(wrong: number, last: now)]
        }
      }
      func counts() async throws -> [Int64] {
        try await store.transactions.read { transaction in
          try ["request_allowances", "sign_in_attempts"].map { table in
            try transaction.connection.first("SELECT COUNT(*) FROM \(table)", []) {
              $0.integer(0)
            } ?? 0
          }
        }
      }
      #expect(try await counts() == [3, 2])
      clock.time.withLock { $0 += 4 * Self.second }
      try await limits.sweep()
      #expect(try await counts() == [1, 2])
      clock.time.withLock { $0 += 7200 * Self.second }
      try await store.maintenance.trim(at: .now)
      #expect(try await counts() == [0, 0])
    }
  }

  @Test("attempts of the same subjects are decided one after the other")
  func attempts() async throws {
    try await withStore { store, address, _ in
      let limits = try #require(store.limits)
      let subjects = [subject(2), subject(1)]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<3 {
          group.addTask {
            try await Store.onThread {
              let connection = try PostgreSQLConnection(to: address)
              defer { connection.close() }
              let transaction = StoreTransaction(
                over: StoreConnection(over: connection, try StoreContext()))
              for _ in 0..<20 {
                try connection.execute("BEGIN")
                try SharedLimitTable(transaction: transaction).attempt(
                  by: number == 0 ? subjects : subjects.reversed()
                ) {
                  histories, now in
                  histories = histories.map {
                    AttemptHistory(wrong: ($0?.wrong ?? 0) + 1, last: now)
                  }
                }
                try connection.commit()
              }
            }
          }
        }
        try await group.waitForAll()
      }
      let wrong = try await limits.attempt(by: subjects) { histories, _ in
        histories.map { $0?.wrong }
      }
      #expect(wrong == [60, 60])
    }
  }
}

/// A time that a test sets.
private final class Clock: Sendable {
  let time: Mutex<Int64>

  init(_ time: Int64) { self.time = Mutex(time) }
}
