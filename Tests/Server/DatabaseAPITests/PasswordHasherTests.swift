import Cryptography
import Foundation
import Synchronization
import Testing
import Waiting
import WebServices

@testable import DatabaseAPI

struct PasswordHasherTests {
  private static let cheap = PasswordHash.Cost(passes: 1, memory: 8192)

  @Test("without a hash nothing matches")
  func decoy() async throws {
    let hasher = PasswordHasher(cost: Self.cheap)
    let hash = try PasswordHash.make("right", cost: Self.cheap)
    #expect(try await hasher.isMatch("right", hash))
    #expect(try await !hasher.isMatch("wrong", hash))
    #expect(try await !hasher.isMatch("right", nil))
  }

  @Test("an attempt costs as much without an account as with one, the first of all too")
  func cost() async throws {
    let hash = try PasswordHash.make("right", cost: Self.cheap)
    var costs: [[Int]] = []
    for known in [hash, nil] {
      let hasher = PasswordHasher(cost: Self.cheap)
      var computed: [Int] = []
      for _ in 0..<3 {
        _ = try await hasher.isMatch("wrong", known)
        computed.append(hasher.computed.withLock { $0 })
      }
      costs.append(computed)
    }
    #expect(costs == [[2, 3, 4], [2, 3, 4]])
  }

  @Test("two work at a time, some wait, and further ones are to try again later")
  func bounded() async throws {
    let hasher = PasswordHasher(cost: Self.cheap, limit: 5)
    let gate = DispatchSemaphore(value: 0)
    let started = Count()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 1...5 {
        group.addTask {
          try await hasher.run {
            started.value.withLock { $0 += 1 }
            gate.wait()
          }
        }
      }
      try await eventually("five are admitted") { hasher.load == 5 }
      try await eventually("two have begun") {
        started.value.withLock { $0 } == PasswordHasher.width
      }
      let error = await #expect(throws: ServiceError.self) {
        try await hasher.isMatch("x", nil)
      }
      #expect(error?.code == .tryAgainLater)
      #expect(error?.retryAfter == 2)
      for _ in 1...5 { gate.signal() }
      try await group.waitForAll()
    }
    #expect(try await !hasher.isMatch("x", nil))
  }

  private final class Count: Sendable {
    let value = Mutex(0)
  }
}
