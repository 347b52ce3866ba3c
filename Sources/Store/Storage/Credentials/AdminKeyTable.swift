import CloudKitModel
import SQLEngine
import StoreModel

/// The keys of administrators; revoked ones stay. Each node of a distributed store has a copy of
/// the small table (``StoreDistribution``).
struct AdminKeyTable: Table {
  let transaction: StoreTransaction

  /// `hash` is the SHA-256 of the key's text. `label` is a name for people.
  static let definition = [
    """
    CREATE TABLE admin_keys (
      hash BYTEA PRIMARY KEY, label TEXT NOT NULL, created BIGINT NOT NULL, revoked BIGINT)
    """
  ]

  func keys() throws -> [AdminKey] {
    try connection.rows(sql.keys, [], AdminKey.init(row:))
  }

  func add(_ key: AdminKey) throws {
    try decide(
      sql.add,
      [.bytes(key.hash), .text(key.label), .time(key.created), SQLValue(key.revoked?.milliseconds)])
  }

  func revoke(keyWithHash hash: [UInt8], at timestamp: Timestamp) throws -> Bool {
    try connection.run(sql.revoke, [.bytes(hash), .time(timestamp)]) == 1
  }

  struct Statements {
    let keys = "SELECT hash, label, created, revoked FROM admin_keys ORDER BY created, hash".except(
      .wholeTable)
    let add: Statement =
      "INSERT INTO admin_keys (hash, label, created, revoked) VALUES ($1, $2, $3, $4)"
    let revoke: Statement = "UPDATE admin_keys SET revoked = $2 WHERE hash = $1 AND revoked IS NULL"
  }
  static let sql = Statements()
}

extension AdminKey {
  init(row: any SQLRow) {
    self.init(
      hash: row.bytes(0), label: row.text(1), created: row.time(2), revoked: row.optionalTime(3))
  }
}
