import CloudKitModel
import Foundation
import StoreModel

/// The constants of an open store that its transactions use.
final class StoreContext: Sendable {
  /// The function that makes the identifiers of changes and users. They are random unless a test
  /// sets another function.
  let makeUUID: @Sendable () -> UUID
  /// The cipher that seals texts that clients keep, such as change tokens and continuation markers.
  let tokens: TokenCipher
  /// The change tags of records, made from their versions.
  let changeTags: ChangeTags
  /// The identity of the server that commits changes through this store; nil if one server uses the
  /// store alone.
  let identity: ServerIdentity?
  /// Whether the store's databases are distributed over nodes: see ``StoreDistribution``.
  let isDistributed: Bool
  /// The environments in which saving a record creates no record type or field.
  let fixedEnvironments: Set<ContainerEnvironment>
  /// The limits of the store's contents, such as the most subscriptions of a user.
  let quotas: StoreQuotas
  /// The limits of the change history: how long the store keeps dispatched changes.
  let historyLimits: ChangeHistoryLimits
  /// A clock in place of the database's, in nanoseconds since 1970, for tests that set the time;
  /// nil for the database's clock.
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

  /// Creates a context for tools that run a few statements. It cannot seal texts for clients.
  convenience init() throws {
    try self.init(
      StoreConfiguration(role: .tool), tokens: .unused, identity: nil, isDistributed: false,
      quotas: StoreQuotas())
  }
}
