import Cryptography
import Foundation
import Synchronization
import WebServices

/// Hashes passwords away from Swift's own threads, a few at the same time.
///
/// Each takes 64 MiB while it lasts. Beyond ``limit`` hashes under way or waiting, further ones are
/// refused.
package final class PasswordHasher: Sendable {
  /// Hashes that are made at the same time.
  static let width = 2

  private let cost: PasswordHash.Cost
  private let limit: Int
  private let underWay = Mutex(0)
  private let queue: OperationQueue
  /// What a password is checked against when there is no account: it takes as long.
  private let decoy = Mutex<String?>(nil)

  /// Hashes that were computed to check passwords: what an attempt costs.
  let computed = Mutex(0)

  /// - Parameter limit: hashes under way and waiting.
  package init(cost: PasswordHash.Cost = .interactive, limit: Int = 32) {
    self.cost = cost
    self.limit = limit
    queue = OperationQueue()
    queue.name = "petrel-passwords"
    queue.maxConcurrentOperationCount = Self.width
  }

  /// Hashes that are made or wait.
  var load: Int { underWay.withLock { $0 } }

  /// Whether the password is the one of this hash; never, and as slowly, without a hash.
  ///
  /// - Throws: `TRY_AGAIN_LATER` when too many wait.
  func isMatch(_ password: String, _ hash: String?) async throws -> Bool {
    try await run { [self] in
      // Made for the first of all, whether there is an account or not: only then it tells nothing.
      let decoy = try decoyHash()
      let isMatch = PasswordHash.isMatch(password, hash ?? decoy)
      computed.withLock { $0 += 1 }
      return hash != nil && isMatch
    }
  }

  /// The hash to keep in place of a password.
  ///
  /// - Throws: `TRY_AGAIN_LATER` when too many wait.
  package func hash(_ password: String) async throws -> String {
    try await run { [cost] in try PasswordHash.make(password, cost: cost) }
  }

  private func decoyHash() throws -> String {
    try decoy.withLock { decoy in
      if let decoy { return decoy }
      let hash = try PasswordHash.make(
        Base64URL.encode(SecureRandom.bytes(count: 24)), cost: cost)
      computed.withLock { $0 += 1 }
      decoy = hash
      return hash
    }
  }

  /// Runs work that blocks on one of the hasher's threads.
  func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let isAdmitted = underWay.withLock { count in
      guard count < limit else { return false }
      count += 1
      return true
    }
    guard isAdmitted else {
      throw ServiceError(
        .tryAgainLater, "too many people sign in at this moment", retryAfter: 2)
    }
    defer { underWay.withLock { $0 -= 1 } }
    return try await withCheckedThrowingContinuation { continuation in
      queue.addOperation { continuation.resume(with: Result(catching: work)) }
    }
  }
}
