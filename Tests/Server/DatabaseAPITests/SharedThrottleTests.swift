import CloudKitModel
import PostgreSQLTesting
import SQLEngine
import Storage
import StoreModel
import Synchronization
import Testing
import WebServices

@testable import Configuration
@testable import DatabaseAPI

struct SharedThrottleTests {
  private func withLimits(_ body: (any SharedLimits) async throws -> Void) async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    let store = try await Store.open(
      at: .postgreSQL(try PostgreSQLAddress(schema.address), assets: nil))
    try await body(try #require(store.sharedLimits))
    await store.close()
    try await PostgreSQLServer.shared.drop(schema)
  }

  @Test("a burst is one for all servers, however many requests come at the same moment")
  func burst() async throws {
    try await withLimits { limits in
      // So slow that the test does not see a bucket fill by itself.
      let rate = RequestRate(perSecond: 0.001, burst: 40)
      let servers = (0..<3).map { _ in RequestThrottle(rates: [.user: rate], sharing: limits) }
      let key = RequestThrottle.Key(subject: .user, name: "_anna")
      let outcomes = await withTaskGroup(of: Int?.self) { group in
        for number in 0..<120 {
          group.addTask {
            do {
              try await servers[number % 3].admit([key], at: .now)
              return nil
            } catch let error as ServiceError where error.code == .throttled {
              return error.retryAfter.map { Int($0) }
            } catch {
              return -1
            }
          }
        }
        return await group.reduce(into: [Int?]()) { $0.append($1) }
      }
      #expect(outcomes.filter { $0 == nil }.count == 40)
      #expect(outcomes.allSatisfy { $0.map { (900...1000).contains($0) } ?? true })
      // Another caller has a bucket of its own.
      try await servers[0].admit([RequestThrottle.Key(subject: .user, name: "_ben")], at: .now)
    }
  }

  @Test("a store that shares nothing is not asked")
  func alone() async throws {
    let store = try await Store.inMemory()
    #expect(store.sharedLimits == nil)
    await store.close()
    let throttle = RequestThrottle(rates: [.user: RequestRate(perSecond: 1, burst: 1)])
    let key = RequestThrottle.Key(subject: .user, name: "_anna")
    let now = Timestamp.now
    try await throttle.admit([key], at: now)
    await #expect(throws: ServiceError.self) { try await throttle.admit([key], at: now) }
    try await throttle.admit([key], at: now.advanced(bySeconds: 1))
  }

  @Test("a request that cannot be counted fails, and the next is counted again")
  func unreachable() async throws {
    let limits = FailingLimits()
    let throttle = RequestThrottle(
      rates: [.user: RequestRate(perSecond: 1, burst: 1)], sharing: limits)
    let key = RequestThrottle.Key(subject: .user, name: "_anna")
    limits.fails.withLock { $0 = true }
    await #expect(throws: StoreError.self) { try await throttle.admit([key], at: .now) }
    limits.fails.withLock { $0 = false }
    try await throttle.admit([key], at: .now)
    #expect(limits.needed.withLock { $0 } == [1, 1])
  }

  @Test("wrong passwords and keys count on all servers together")
  func attempts() async throws {
    try await withLimits { limits in
      let servers = (0..<2).map { _ in SignInAttempts(.password, sharing: limits) }
      var verdicts: [AttemptLimiter.Verdict] = []
      for number in 0..<6 {
        verdicts.append(
          try await servers[number % 2].begin(
            account: "anna", address: "10.0.0.4", at: .now))
      }
      #expect(verdicts.prefix(5).allSatisfy { $0 == .allowed })
      guard case .wait(let seconds) = verdicts[5] else {
        Issue.record("the sixth has to wait")
        return
      }
      #expect(seconds > 0 && seconds <= 1)
      // Another account, a name that no store takes for a text, and keys are counted by themselves.
      #expect(
        try await servers[0].begin(account: "ben\0", address: "10.0.0.1", at: .now) == .allowed)
      let keys = SignInAttempts(.adminKey, sharing: limits)
      #expect(try await keys.begin(address: "10.0.0.1", at: .now) == .allowed)
      #expect(
        try await servers[0].begin(account: "anna", address: "10.0.0.9", at: .now) == .allowed)
      // The right password clears the account at its address for all.
      try await servers[1].succeeded(account: "anna", address: "10.0.0.4")
      #expect(
        try await servers[0].begin(account: "anna", address: "10.0.0.4", at: .now) == .allowed)
    }
  }
}

/// Limits in a store that is away at times.
private final class FailingLimits: SharedLimits {
  let fails = Mutex(false)
  let needed = Mutex<[Int64]>([])

  func draw(_ draw: AllowanceDraw) async throws -> Allowance {
    needed.withLock { $0.append(draw.needed) }
    if fails.withLock({ $0 }) { throw StoreError(.unreachable, "the store is away") }
    return Allowance(granted: draw.needed, fullIn: 0)
  }

  func attempt<Verdict: Sendable>(
    by subjects: [LimitSubject],
    _ decide: @escaping @Sendable (inout [AttemptHistory?], Timestamp) -> Verdict
  ) async throws -> Verdict {
    throw StoreError(.unreachable, "the store is away")
  }
}
