import CloudKitModel
import StoreModel

/// The secrets that all servers on the store share; see ``SecretTable``.
struct SecretService: SecretStore {
  let transactions: Transactions

  /// The cipher for the texts that clients keep. The key is read once, when the store is opened.
  var tokens: TokenCipher { transactions.context.tokens }

  /// Returns a secret, and stores `proposed` first if there is none of this name.
  func secret(named name: String, proposing proposed: [UInt8]) async throws -> [UInt8] {
    try await transactions.write(locking: .reference) {
      try SecretTable(transaction: $0).secret(named: name, proposing: proposed)
    }
  }
}
