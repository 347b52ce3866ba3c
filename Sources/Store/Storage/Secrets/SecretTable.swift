import Cryptography
import SQLEngine
import StoreModel

/// The secrets and other values that all servers of the store share, by name. Only provider tokens are
/// replaced, whose names begin with `apns-token-`. Other values never change.
///
/// | name | value |
/// | --- | --- |
/// | `client-tokens` | the key that encrypts clients' tokens |
/// | `sign-in` | a key that the server's sign-in uses |
/// | `asset-folder` | the identity of a shared asset folder |
struct SecretTable {
  let transaction: StoreTransaction
  private var connection: any SQLConnection { transaction.connection }

  static let definition = [
    "CREATE TABLE secrets (name TEXT PRIMARY KEY, value BYTEA NOT NULL)"
  ]

  /// Returns the secret with this name. If there is none, the method stores `proposed` under the
  /// name and returns it.
  ///
  /// If two servers propose values at the same time, both get the value that was stored first.
  func secret(named name: String, proposing proposed: [UInt8]) throws -> [UInt8] {
    try connection.run(
      "INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
      [.text(name), .bytes(proposed)])
    return try secret(named: name) ?? proposed
  }

  /// Returns the secret with this name; nil if there is none.
  func secret(named name: String) throws -> [UInt8]? {
    try connection.first("SELECT value FROM secrets WHERE name = $1", [.text(name)]) {
      $0.bytes(0)
    }
  }

  /// Stores a secret under a name, in place of the one before.
  func replaceSecret(named name: String, by value: [UInt8]) throws {
    try connection.run(
      """
      INSERT INTO secrets (name, value) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
      """, [.text(name), .bytes(value)])
  }
}

// The key with which the store encrypts the tokens that clients keep. The store reads this key when
// it is opened, before it can run transactions.
extension SecretTable {
  /// The name of the key that encrypts clients' tokens; see ``TokenCipher``.
  private static let clientTokens = "client-tokens"

  /// Stores the key of clients' tokens in a new store.
  ///
  /// The key has 32 random bytes. The migration that creates the store calls this method.
  @Sendable
  static func makeClientSecret(_ connection: any SQLConnection) throws {
    try connection.run(
      "INSERT INTO secrets (name, value) VALUES ($1, $2)",
      [.text(clientTokens), .bytes(SecureRandom.bytes(count: 32))])
  }

  /// Returns the cipher for clients' tokens.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if the store has no such key.
  static func tokenCipher(_ connection: any SQLConnection) throws -> TokenCipher {
    let secret = try connection.first(
      "SELECT value FROM secrets WHERE name = $1", [.text(clientTokens)]
    ) { $0.bytes(0) }
    guard let secret else {
      throw StoreError(.corrupt, "the store has lost the key that seals its clients' tokens")
    }
    return TokenCipher(secret: secret)
  }
}
