import CloudKitModel
import Foundation
import StoreModel

/// What the transactions of an open store go by. It does not change while the store is open.
final class StoreContext: Sendable {
  let makeUUID: @Sendable () -> UUID
  /// Seals what clients are given to keep.
  let tokens: TokenCipher
  let changeTags: ChangeTags
  /// As which server changes are committed; nil where one alone has the store open.
  let identity: ServerIdentity?
  /// Whether the databases of the store are on several nodes: see ``StoreDistribution``.
  let isDistributed: Bool
  /// Where no record type or field is made by saving it.
  let fixedEnvironments: Set<ContainerEnvironment>
  /// The limits of the store.
  let quotas: StoreQuotas
  /// What is kept of changes that were dispatched.
  let historyLimits: ChangeHistoryLimits
  /// Stands for the database's clock where a test moves time: nanoseconds since 1970.
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
    steeredTime = configuration.steeredTime
  }

  /// For a few statements over a connection, by which clients are given nothing.
  convenience init() throws {
    try self.init(
      StoreConfiguration(role: .tool), tokens: .unused, identity: nil, isDistributed: false,
      quotas: StoreQuotas())
  }
}
