import CloudKitModel
import Cryptography
import StoreModel
import Synchronization

/// The counts of sign-in attempts: in the store if servers share it, otherwise in memory.
package final class SignInAttempts: Sendable {
  /// The kind of secret that an attempt may guess. Each kind has counts of its own.
  package enum Kind: String, Sendable {
    case password
    case adminKey
  }

  private let kind: Kind
  /// The counts in the store; nil for a server that uses its store alone.
  private let limits: (any SharedLimits)?
  private let local = Mutex(AttemptLimiter())

  package init(_ kind: Kind, sharing limits: (any SharedLimits)?) {
    self.kind = kind
    self.limits = limits
  }

  /// Decides whether an attempt may begin. An admitted attempt counts as wrong until
  /// ``succeeded(account:address:)``.
  ///
  /// - Parameters:
  ///   - account: the name of the account; nil for an attempt that names none, such as one with a
  ///     key.
  ///   - address: the network of the client: ``ClientAddress/network(of:header:)``.
  ///   - now: the time for the counts in memory. The counts in the store use the store's clock.
  /// - Throws: `StoreError` if the store that servers share does not answer.
  package func begin(
    account: String? = nil, address: String, at now: Timestamp
  ) async throws -> AttemptLimiter.Verdict {
    let subjects = AttemptLimiter.subjects(account: account, address: address)
    guard let limits else { return local.withLock { $0.begin(subjects, at: now) } }
    return try await limits.attempt(by: subjects.map { limitSubject($0) }) { histories, now in
      AttemptLimiter.begin(subjects, &histories, at: now)
    }
  }

  /// Records that an admitted attempt was right. The count of the account at its address is
  /// removed, and the other counts fall by one.
  func succeeded(account: String? = nil, address: String) async throws {
    let subjects = AttemptLimiter.subjects(account: account, address: address)
    guard let limits else { return local.withLock { $0.succeeded(subjects) } }
    try await limits.attempt(by: subjects.map { limitSubject($0) }) { histories, _ in
      AttemptLimiter.succeeded(subjects, &histories)
    }
  }

  /// Returns the subject of the shared limit in the store: a hash of the kind and the subject.
  private func limitSubject(_ subject: AttemptLimiter.Subject) -> LimitSubject {
    let text =
      switch subject {
      case .account(let name): "\(kind.rawValue) account \(name)"
      // An address contains no space, so two different subjects cannot have the same text.
      case .accountAtAddress(let name, let address):
        "\(kind.rawValue) account at \(address) \(name)"
      case .address(let address): "\(kind.rawValue) address \(address)"
      }
    return LimitSubject(hash: SHA256.hash(text.utf8))
  }
}
