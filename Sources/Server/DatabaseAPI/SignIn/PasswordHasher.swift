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

  /// The memory and the time of a hash.
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

  /// Creates the queue.
  ///
  /// - Parameters:
  ///   - cost: the memory and the time of a hash.
  ///   - limit: the most hashes that wait or are in progress.
  package init(cost: PasswordHash.Cost = .interactive, limit: Int = 32) {
    self.cost = cost
    self.limit = limit
    queue = OperationQueue()
    queue.name = "petrel-passwords"
    queue.maxConcurrentOperationCount = Self.width
  }

  /// The number of hashes that wait or are in progress.
  var load: Int { underWay.withLock { $0 } }

  /// Whether a password fits a hash. Without a hash the answer is false, after the same time.
  ///
  /// - Throws: `TRY_AGAIN_LATER` if too many hashes wait.
  func isMatch(_ password: String, _ hash: String?) async throws -> Bool {
    try await run { [self] in
      // Computed in the first check of all, whether its account exists or not. Otherwise the time
      // of the check would show that there is no such account.
      let decoy = try decoyHash()
      let isMatch = PasswordHash.isMatch(password, hash ?? decoy)
      computed.withLock { $0 += 1 }
      return hash != nil && isMatch
    }
  }

  /// Returns the hash that the store keeps in place of a password.
  ///
  /// - Throws: `TRY_AGAIN_LATER` if too many hashes wait.
  package func hash(_ password: String) async throws -> String {
    try await run { [cost] in try PasswordHash.make(password, cost: cost) }
  }

  /// Returns the hash of a random password, computed once.
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

  /// Executes blocking work on a thread of the queue.
  ///
  /// - Throws: `TRY_AGAIN_LATER` if too many hashes wait; errors of `work`.
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
