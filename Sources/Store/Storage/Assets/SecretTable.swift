import Cryptography
import SQLEngine
import StoreModel

/// The store's secrets and other values that all servers share, by name.
struct SecretTable {
  let transaction: StoreTransaction
  private var connection: any SQLConnection { transaction.connection }

  static let definition = [
    "CREATE TABLE secrets (name TEXT PRIMARY KEY, value BYTEA NOT NULL)"
  ]

  /// The secret with this name; `proposed` is stored and returned if there is none.
  func secret(named name: String, proposing proposed: [UInt8]) throws -> [UInt8] {
    try connection.run(
      "INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
      [.text(name), .bytes(proposed)])
    return try connection.first(
      "SELECT value FROM secrets WHERE name = $1", [.text(name)]
    ) { $0.bytes(0) } ?? proposed
  }
}

// The secret that seals clients' tokens. The store needs it before it has a transaction.
extension SecretTable {
  private static let clientTokens = "client-tokens"

  /// Stores the key of clients' tokens in a new store.
  @Sendable
  static func makeClientSecret(_ connection: any SQLConnection) throws {
    try connection.run(
      "INSERT INTO secrets (name, value) VALUES ($1, $2)",
      [.text(clientTokens), .bytes(SecureRandom.bytes(count: 32))])
  }

  /// The cipher for clients' tokens.
  static func tokenCipher(_ connection: any SQLConnection) throws -> TokenCipher {
    let secret = try connection.first(
      "SELECT value FROM secrets WHERE name = $1", [.text(clientTokens)]
    ) { $0.bytes(0) }
    guard let secret else {
      throw StoreError(.corrupt, "the store has lost what seals the tokens of its clients")
    }
    return TokenCipher(secret: secret)
  }
}
