import CloudKitModel
import SQLEngine
import StoreModel

/// The server-to-server keys. Each node of a distributed store has a copy of the small table
/// (``StoreDistribution``).
///
/// Each key has a user of its own, who owns the records and subscriptions that its requests create.
/// Revoked keys stay, so a public key can never be registered again in a container's environment.
struct ServerKeyTable: Table {
  let transaction: StoreTransaction

  /// `key_id` has 64 hexadecimal digits. `public_key` is PEM text.
  static let definition = [
    """
    CREATE TABLE server_keys (
      key_id TEXT PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
      name TEXT NOT NULL, public_key TEXT NOT NULL, user_record_name TEXT NOT NULL UNIQUE,
      created BIGINT NOT NULL, revoked BIGINT, UNIQUE (container, environment, public_key))
    """
  ]

  func keys(container: String, environment: ContainerEnvironment) throws -> [ServerKey] {
    try connection.rows(
      sql.ofContainer, [.text(container), .text(environment.rawValue)], ServerKey.init(row:))
  }

  func keys() throws -> [ServerKey] {
    try connection.rows(sql.all, [], ServerKey.init(row:))
  }

  func add(_ key: ServerKey) throws {
    let added = try connection.run(
      sql.add,
      [
        .text(key.keyID), .text(key.container), .text(key.environment.rawValue), .text(key.name),
        .text(key.publicKey), .text(key.userRecordName), .time(key.created),
        SQLValue(key.revoked?.milliseconds),
      ])
    guard added == 1 else {
      throw StoreError(
        .exists,
        "the public key is already registered for \(key.container) "
          + "(\(key.environment.rawValue)); create another key pair")
    }
  }

  func revoke(_ keyID: String, at timestamp: Timestamp) throws -> String? {
    try connection.text(sql.revoke, [.text(keyID), .time(timestamp)])
  }

  struct Statements {
    let ofContainer: Statement =
      "\(ServerKey.selection) WHERE container = $1 AND environment = $2 ORDER BY created, key_id"
    let all = Statement(
      ServerKey.selection + " ORDER BY container, environment, created, key_id", .wholeTable)
    let add: Statement = """
      INSERT INTO server_keys
        (key_id, container, environment, name, public_key, user_record_name, created, revoked)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
      """
    let revoke: Statement = """
      UPDATE server_keys SET revoked = $2 WHERE key_id = $1 AND revoked IS NULL
      RETURNING user_record_name
      """
  }
  static let sql = Statements()
}

extension ServerKey {
  fileprivate static let selection = """
    SELECT key_id, container, environment, name, public_key, user_record_name, created, revoked
    FROM server_keys
    """

  fileprivate init(row: any SQLRow) throws {
    self.init(
      keyID: row.text(0), name: row.text(3), container: row.text(1),
      environment: try row.environment(2), publicKey: row.text(4), userRecordName: row.text(5),
      created: row.time(6), revoked: row.optionalTime(7))
  }
}
