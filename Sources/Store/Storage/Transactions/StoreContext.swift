import CloudKitModel
import Foundation
import StoreModel

/// The constants of an open store that its transactions use.
final class StoreContext: Sendable {
  /// The identifiers of changes and users, random unless a test sets another function.
  let makeUUID: @Sendable () -> UUID
  let tokens: TokenCipher
  let changeTags: ChangeTags
  let identity: ServerIdentity?
  let isDistributed: Bool
  let fixedEnvironments: Set<ContainerEnvironment>
  let quotas: StoreQuotas
  let historyLimits: ChangeHistoryLimits
  /// In milliseconds. The second is for a repetition after PostgreSQL has ended the transaction.
  let idleTimeouts: (locked: Int64, repeated: Int64)
  /// Replaces the database's clock in tests: nanoseconds since 1970.
  let steeredTime: (@Sendable () -> Int64)?

  init(
    _ configuration: StoreConfiguration, tokens: TokenCipher, identity: ServerIdentity?,
    isDistributed: Bool, quotas: StoreQuotas
  ) throws {
    makeUUID = configuration.makeUUID
    self.tokens = tokens
    changeTags = try tokens.makeChangeTags()
    self.identity = identity
    self.isDistributed = isDistributed
    fixedEnvironments = configuration.fixedEnvironments
    self.quotas = quotas
    historyLimits = configuration.changeHistory
    let tuning = configuration.tuning
    idleTimeouts = (
      Int64(tuning.lockedIdleTimeoutMilliseconds), Int64(tuning.idleTimeoutMilliseconds)
    )
    steeredTime = configuration.steeredTime
  }

  /// Creates a context for tools that run a few statements. It cannot seal texts for clients.
  convenience init() throws {
    try self.init(
      StoreConfiguration(role: .tool), tokens: .unused, identity: nil, isDistributed: false,
      quotas: StoreQuotas())
  }
}
