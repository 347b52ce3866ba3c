import CloudKitModel
import StoreModel

/// The secrets of a store, which all servers on the store share.
public struct SecretService: Sendable {
  let transactions: Transactions

  /// The cipher for texts that clients keep, such as change tokens. Its key is one of the secrets,
  /// read once when the store is opened, so each server can read the texts of the others.
  public var tokens: TokenCipher { transactions.context.tokens }

  /// The secret with this name, or `proposed`, which is stored if there is none.
  public func secret(named name: String, proposing proposed: [UInt8]) async throws -> [UInt8] {
    try await transactions.write(locking: .reference) {
      try SecretTable(transaction: $0).secret(named: name, proposing: proposed)
    }
  }

  /// The secret that ``replaceSecret(named:by:)`` stored last.
  public func secret(named name: String) async throws -> [UInt8]? {
    try await transactions.read { try SecretTable(transaction: $0).secret(named: name) }
  }

  /// Stores a secret under a name, in place of the one before.
  public func replaceSecret(named name: String, by value: [UInt8]) async throws {
    try await transactions.write(locking: .reference) {
      try SecretTable(transaction: $0).replaceSecret(named: name, by: value)
    }
  }
}
