import CloudKitModel
import SQLEngine
import StoreModel

/// The keys of administrators. The table is small, so each node of a distributed store has a copy
/// (``StoreDistribution``). Revoked keys stay in the table.
struct AdminKeyTable {
  let transaction: StoreTransaction

  private var connection: any SQLConnection { transaction.connection }

  /// `hash` is the SHA-256 of the key's text. `label` is a name for people. The times are in
  /// milliseconds since 1970. `revoked` is null for a valid key.
  static let definition = [
    """
    CREATE TABLE admin_keys (
      hash BYTEA PRIMARY KEY, label TEXT NOT NULL, created BIGINT NOT NULL, revoked BIGINT)
    """
  ]

  /// Returns all keys, revoked ones included, in the order of their creation.
  func keys() throws -> [AdminKey] {
    try connection.rows(
      "SELECT hash, label, created, revoked FROM admin_keys ORDER BY created, hash", [],
      AdminKey.init(row:))
  }

  /// Stores a key. The statement fails if there is a key with the same hash.
  func add(_ key: AdminKey) throws {
    try connection.run(
      "INSERT INTO admin_keys (hash, label, created, revoked) VALUES ($1, $2, $3, $4)",
      [
        .bytes(key.hash), .text(key.label), .integer(key.created.milliseconds),
        SQLValue(key.revoked?.milliseconds),
      ])
  }

  /// Revokes a key from `timestamp` on. Returns false if there is no key with this hash, or it is
  /// already revoked.
  func revoke(keyWithHash hash: [UInt8], at timestamp: Timestamp) throws -> Bool {
    try connection.run(
      "UPDATE admin_keys SET revoked = $2 WHERE hash = $1 AND revoked IS NULL",
      [.bytes(hash), .integer(timestamp.milliseconds)]) == 1
  }
}

extension AdminKey {
  /// Reads the first four columns of a row: hash, label, creation time, and revocation time.
  init(row: any SQLRow) {
    self.init(
      hash: row.bytes(0), label: row.text(1), created: Timestamp(milliseconds: row.integer(2)),
      revoked: row.optionalInteger(3).map { Timestamp(milliseconds: $0) })
  }
}
