import Cryptography
import SQLEngine
import StoreModel

/// What the store has that nobody else may know, or is to have the same of, by its name.
struct SecretTable {
  let transaction: StoreTransaction
  private var connection: any SQLConnection { transaction.connection }

  static let definition = [
    "CREATE TABLE secrets (name TEXT PRIMARY KEY, value BYTEA NOT NULL)"
  ]

  /// A secret of the store; the proposed one when it has none of the name.
  func secret(named name: String, proposing proposed: [UInt8]) throws -> [UInt8] {
    try connection.run(
      "INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
      [.text(name), .bytes(proposed)])
    return try connection.first(
      "SELECT value FROM secrets WHERE name = $1", [.text(name)]
    ) { $0.bytes(0) } ?? proposed
  }
}

// The secret that the tokens of clients are sealed with. The store needs it before it has a transaction.
extension SecretTable {
  private static let clientTokens = "client-tokens"

  /// Gives a new store what seals the tokens of clients.
  @Sendable
  static func makeClientSecret(_ connection: any SQLConnection) throws {
    try connection.run(
      "INSERT INTO secrets (name, value) VALUES ($1, $2)",
      [.text(clientTokens), .bytes(SecureRandom.bytes(count: 32))])
  }

  /// What seals the tokens of the store's clients.
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
