import CloudKitModel
import StoreModel

/// The secrets that all servers on the store share.
struct SecretService: SecretStore {
  let transactions: Transactions

  var tokens: TokenCipher { transactions.context.tokens }

  func secret(named name: String, proposing proposed: [UInt8]) async throws -> [UInt8] {
    try await transactions.write(locking: .reference) {
      try SecretTable(transaction: $0).secret(named: name, proposing: proposed)
    }
  }
}
