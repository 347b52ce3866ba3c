import CloudKitModel
import Cryptography
import StoreModel
import Synchronization

/// Counts attempts to sign in: in the store where servers share it, in memory elsewhere.
package final class SignInAttempts: Sendable {
  /// What is guessed. Each kind has a count of its own for an address.
  package enum Kind: String, Sendable {
    case password
    case adminKey
  }

  private let kind: Kind
  private let limits: (any SharedLimits)?
  private let local = Mutex(AttemptLimiter())

  /// - Parameter limits: where servers count together; nil for a server that is alone.
  package init(_ kind: Kind, sharing limits: (any SharedLimits)?) {
    self.kind = kind
    self.limits = limits
  }

  /// Whether an attempt may begin; one that may counts as wrong until ``succeeded(account:address:)``.
  ///
  /// - Parameters:
  ///   - account: nil for an attempt that names none, such as one with a key.
  ///   - now: counts where the server is alone.
  /// - Throws: ``StoreError`` when the store that servers share cannot tell.
  package func begin(
    account: String? = nil, address: String, at now: Timestamp
  ) async throws -> AttemptLimiter.Verdict {
    let subjects = AttemptLimiter.subjects(account: account, address: address)
    guard let limits else { return local.withLock { $0.begin(subjects, at: now) } }
    return try await limits.attempt(by: subjects.map { limitSubject($0) }) { histories, now in
      AttemptLimiter.begin(subjects, &histories, at: now)
    }
  }

  /// The attempt that began last was right: the account is as new at its address, and all else as
  /// before.
  func succeeded(account: String? = nil, address: String) async throws {
    let subjects = AttemptLimiter.subjects(account: account, address: address)
    guard let limits else { return local.withLock { $0.succeeded(subjects) } }
    try await limits.attempt(by: subjects.map { limitSubject($0) }) { histories, _ in
      AttemptLimiter.succeeded(subjects, &histories)
    }
  }

  private func limitSubject(_ subject: AttemptLimiter.Subject) -> LimitSubject {
    let text =
      switch subject {
      case .account(let name): "\(kind.rawValue) account \(name)"
      // An address has no space in it, so no two of these are the same text.
      case .accountAtAddress(let name, let address):
        "\(kind.rawValue) account at \(address) \(name)"
      case .address(let address): "\(kind.rawValue) address \(address)"
      }
    return LimitSubject(hash: SHA256.hash(text.utf8))
  }
}
