import Cryptography

extension Schema {
  /// From this form on a store seals the tokens of its clients.
  static let clientTokensVersion: Int64 = 28
  private static let secretName = "client-tokens"
  /// The counter with ``TokenCipher/plainThrough``.
  private static let plainThroughName = "plain_tokens_through"

  /// Gives the store what seals the tokens of clients, and keeps up to which number they were not sealed.
  @Sendable
  static func fillClientTokens(_ connection: any SQLConnection) throws {
    let last = try connection.first("SELECT MAX(last_number) FROM databases", []) {
      $0.optionalInteger(0)
    }
    try connection.run(
      "INSERT INTO counters (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
      [.text(plainThroughName), .integer((last ?? nil) ?? 0)])
    try connection.run(
      "INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
      [.text(secretName), .bytes(SecureRandom.bytes(count: 32))])
  }

  /// What seals the tokens of the store's clients.
  static func tokenCipher(_ connection: any SQLConnection) throws -> TokenCipher {
    let secret = try connection.first(
      "SELECT value FROM secrets WHERE name = $1", [.text(secretName)]
    ) { $0.bytes(0) }
    let plainThrough = try connection.first(
      "SELECT value FROM counters WHERE name = $1", [.text(plainThroughName)]
    ) { $0.integer(0) }
    guard let secret, let plainThrough else {
      throw StoreError(.corrupt, "the store has lost what seals the tokens of its clients")
    }
    return TokenCipher(secret: secret, plainThrough: plainThrough)
  }
}
