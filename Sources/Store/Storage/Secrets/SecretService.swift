import CloudKitModel
import StoreModel

/// The secrets that all servers of the store share; see ``SecretTable``.
struct SecretService: SecretStore {
  let transactions: Transactions

  /// The cipher for the texts that clients keep, such as change tokens. The store reads the
  /// cipher's key once, when the store is opened.
  var tokens: TokenCipher { transactions.context.tokens }

  /// Returns the secret with this name. If there is none, the method stores `proposed` under the
  /// name and returns it.
  func secret(named name: String, proposing proposed: [UInt8]) async throws -> [UInt8] {
    try await transactions.write(locking: .reference) {
      try SecretTable(transaction: $0).secret(named: name, proposing: proposed)
    }
  }

  /// Returns the secret with this name; nil if there is none.
  func secret(named name: String) async throws -> [UInt8]? {
    try await transactions.read { try SecretTable(transaction: $0).secret(named: name) }
  }

  /// Stores a secret under a name, in place of the one before.
  func replaceSecret(named name: String, by value: [UInt8]) async throws {
    try await transactions.write(locking: .reference) {
      try SecretTable(transaction: $0).replaceSecret(named: name, by: value)
    }
  }
}
