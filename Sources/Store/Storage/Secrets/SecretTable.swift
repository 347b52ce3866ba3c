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
struct SecretTable: Table {
  let transaction: StoreTransaction

  static let definition = [
    "CREATE TABLE secrets (name TEXT PRIMARY KEY, value BYTEA NOT NULL)"
  ]

  /// If two servers propose values at the same time, both get the value that was stored first.
  func secret(named name: String, proposing proposed: [UInt8]) throws -> [UInt8] {
    try connection.run(sql.propose, [.text(name), .bytes(proposed)])
    return try secret(named: name) ?? proposed
  }

  func secret(named name: String) throws -> [UInt8]? {
    try connection.first(sql.secret, [.text(name)]) { $0.bytes(0) }
  }

  func replaceSecret(named name: String, by value: [UInt8]) throws {
    try connection.run(sql.replace, [.text(name), .bytes(value)])
  }

  struct Statements {
    let propose: Statement =
      "INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING"
    let secret: Statement = "SELECT value FROM secrets WHERE name = $1"
    let replace: Statement = """
      INSERT INTO secrets (name, value) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
      """
    let add: Statement = "INSERT INTO secrets (name, value) VALUES ($1, $2)"
  }
  static let sql = Statements()
}

// Read when the store is opened, before it can run transactions.
extension SecretTable {
  private static let clientTokens = "client-tokens"

  @Sendable
  static func makeClientSecret(_ connection: any SQLConnection) throws {
    try connection.run(sql.add, [.text(clientTokens), .bytes(SecureRandom.bytes(count: 32))])
  }

  /// - Throws: ``StoreError/Code/corrupt`` if the store has no such key.
  static func tokenCipher(_ connection: any SQLConnection) throws -> TokenCipher {
    let secret = try connection.first(sql.secret, [.text(clientTokens)]) { $0.bytes(0) }
    guard let secret else {
      throw StoreError(.corrupt, "the store has lost the key that seals its clients' tokens")
    }
    return TokenCipher(secret: secret)
  }
}

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
