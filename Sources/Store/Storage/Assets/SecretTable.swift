import SQLEngine

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
