import CloudKitModel
import Foundation
import StoreModel

/// The constants of an open store that its transactions use.
final class StoreContext: Sendable {
  /// The source of identifiers of changes and users; random unless a test gives another one.
  let makeUUID: @Sendable () -> UUID
  /// The cipher that seals texts that clients keep, such as change tokens and continuation markers.
  let tokens: TokenCipher
  /// The change tags of records, made from their versions.
  let changeTags: ChangeTags
  /// The server ID under which changes are committed; nil if one server uses the store alone.
  let identity: ServerIdentity?
  /// Whether the store's databases are distributed over nodes: see ``StoreDistribution``.
  let isDistributed: Bool
  /// The environments in which saving a record creates no record type or field.
  let fixedEnvironments: Set<ContainerEnvironment>
  /// The limits of the store.
  let quotas: StoreQuotas
  /// The retention of dispatched changes.
  let historyLimits: ChangeHistoryLimits
  /// A clock in place of the database's, in nanoseconds since 1970, for tests that move time.
  let steeredTime: (@Sendable () -> Int64)?

  /// Creates the context of an opened store.
  ///
  /// - Throws: an error if the key of the change tags cannot be made.
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

  /// A context for a few statements that give no text to clients.
  convenience init() throws {
    try self.init(
      StoreConfiguration(role: .tool), tokens: .unused, identity: nil, isDistributed: false,
      quotas: StoreQuotas())
  }
}
