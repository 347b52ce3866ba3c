import CloudKitModel
import SQLEngine

/// The used signatures of server-to-server keys, each of which the servers of the store accept only
/// once.
struct TakenSignatureTable: Table {
  let transaction: StoreTransaction

  /// After `expires` the server refuses the signature because of its age.
  static let definition = [
    """
    CREATE TABLE taken_signatures (
      key_id TEXT NOT NULL, signature BYTEA NOT NULL, expires BIGINT NOT NULL,
      PRIMARY KEY (key_id, signature)) /*clustered*/
    """,
    "CREATE INDEX taken_signatures_by_end ON taken_signatures (expires)",
  ]

  func take(_ signature: [UInt8], ofKey keyID: String, until expires: Timestamp) throws -> Bool {
    try connection.run(sql.take, [.text(keyID), .bytes(signature), .time(expires)]) == 1
  }

  /// Deletes at most ``Retention/batch`` signatures. Returns whether there may be more.
  func trim(at now: Int64) throws -> Bool {
    try connection.run(sql.trim, [.integer(now), .integer(Retention.batch)]) == Int(Retention.batch)
  }

  struct Statements {
    let take: Statement = """
      INSERT INTO taken_signatures (key_id, signature, expires) VALUES ($1, $2, $3)
      ON CONFLICT DO NOTHING
      """
    let trim: Statement = """
      DELETE FROM taken_signatures WHERE (key_id, signature) IN (
        SELECT key_id, signature FROM taken_signatures WHERE expires <= $1 LIMIT $2)
      """
  }
  static let sql = Statements()
}
