import CloudKitModel
import SQLEngine
import StoreModel

/// The server-to-server keys. The table is small, so each node of a distributed store has a copy
/// (``StoreDistribution``).
///
/// Each key has a user of its own. This user owns the records and subscriptions that the key's
/// requests create. Revoked keys stay, so a public key can never be registered a second time in a
/// container's environment.
struct ServerKeyTable: Table {
  let transaction: StoreTransaction

  /// `key_id` has 64 hexadecimal digits. `public_key` is PEM text. The times are in milliseconds
  /// since 1970. `revoked` is null for a valid key.
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
      Self.sql.ofContainer, [.text(container), .text(environment.rawValue)], ServerKey.init(row:))
  }

  func keys() throws -> [ServerKey] {
    try connection.rows(Self.sql.all, [], ServerKey.init(row:))
  }

  /// Stores a key.
  ///
  /// - Throws: ``StoreError/Code/exists`` if the container's environment already has the public
  ///   key.
  func add(_ key: ServerKey) throws {
    let added = try connection.run(
      Self.sql.add,
      [
        .text(key.keyID), .text(key.container), .text(key.environment.rawValue), .text(key.name),
        .text(key.publicKey), .text(key.userRecordName), .integer(key.created.milliseconds),
        SQLValue(key.revoked?.milliseconds),
      ])
    guard added == 1 else {
      throw StoreError(
        .exists,
        "the public key is already registered for \(key.container) "
          + "(\(key.environment.rawValue)); create another key pair")
    }
  }

  /// Revokes a key and returns the record name of the key's user. Returns nil if there is no key
  /// with this ID, or it is already revoked.
  func revoke(_ keyID: String, at timestamp: Timestamp) throws -> String? {
    try connection.first(
      Self.sql.revoke, [.text(keyID), .integer(timestamp.milliseconds)]
    ) { $0.text(0) }
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
  /// The columns that ``init(row:)`` reads.
  fileprivate static let selection = """
    SELECT key_id, container, environment, name, public_key, user_record_name, created, revoked
    FROM server_keys
    """

  /// Reads a row of ``selection``.
  fileprivate init(row: any SQLRow) throws {
    self.init(
      keyID: row.text(0), name: row.text(3), container: row.text(1),
      environment: try row.environment(2), publicKey: row.text(4), userRecordName: row.text(5),
      created: Timestamp(milliseconds: row.integer(6)),
      revoked: row.optionalInteger(7).map { Timestamp(milliseconds: $0) })
  }
}
