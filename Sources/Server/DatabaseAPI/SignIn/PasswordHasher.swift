import Cryptography
import Foundation
import Synchronization
import WebServices

/// The queue that hashes passwords, on threads of its own: hashing would block the threads of
/// Swift's concurrency.
///
/// A hash takes 64 MiB of memory while it is computed. If ``limit`` hashes are waiting or in
/// progress, further ones are refused.
package final class PasswordHasher: Sendable {
  /// The most hashes that are computed at the same time.
  static let width = 2

  private let cost: PasswordHash.Cost
  /// The most hashes that wait or are in progress.
  private let limit: Int
  /// The number of hashes that wait or are in progress.
  private let underWay = Mutex(0)
  private let queue: OperationQueue
  /// The hash against which a password is checked if there is no account, so that the check takes
  /// the same time. Nil until the first check.
  private let decoy = Mutex<String?>(nil)

  /// The number of hashes that were computed for checks. Tests use it to compare the cost of
  /// attempts.
  let computed = Mutex(0)

  package init(cost: PasswordHash.Cost = .interactive, limit: Int = 32) {
    self.cost = cost
    self.limit = limit
    queue = OperationQueue()
    queue.name = "petrel-passwords"
    queue.maxConcurrentOperationCount = Self.width
  }

  var load: Int { underWay.withLock { $0 } }

  /// Whether a password fits a hash. Without a hash the result is false, after the same time.
  ///
  /// - Throws: `TRY_AGAIN_LATER` if ``limit`` hashes wait or are in progress.
  func isMatch(_ password: String, _ hash: String?) async throws -> Bool {
    try await run { [self] in
      // The first check computes the decoy, whether its account exists or not. Otherwise the longer
      // time of the check would show that the account does not exist.
      let decoy = try decoyHash()
      let isMatch = PasswordHash.isMatch(password, hash ?? decoy)
      computed.withLock { $0 += 1 }
      return hash != nil && isMatch
    }
  }

  /// Returns the hash that the store keeps in place of a password.
  package func hash(_ password: String) async throws -> String {
    try await run { [cost] in try PasswordHash.make(password, cost: cost) }
  }

  /// Returns the decoy: the hash of a random password. The first call computes it.
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

  /// Executes blocking work on a thread of the queue. Throws `TRY_AGAIN_LATER` at the ``limit``.
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
        .tryAgainLater, "too many people are signing in at the moment", retryAfter: 2)
    }
    defer { underWay.withLock { $0 -= 1 } }
    return try await withCheckedThrowingContinuation { continuation in
      queue.addOperation { continuation.resume(with: Result(catching: work)) }
    }
  }
}
