import CloudKitModel
import SQLEngine
import StoreModel

/// The used signatures of server-to-server keys, so that each is accepted once, by all servers of
/// the store.
///
/// A copied request has the same signature as the original one, so the table makes it useless.
struct TakenSignatureTable {
  let transaction: StoreTransaction

  private var connection: any SQLConnection { transaction.connection }

  /// `expires` is in milliseconds since 1970. A signature is refused by its date after that, so its
  /// row is no longer needed.
  static let definition = [
    """
    CREATE TABLE taken_signatures (
      key_id TEXT NOT NULL, signature BYTEA NOT NULL, expires BIGINT NOT NULL,
      PRIMARY KEY (key_id, signature)) /*clustered*/
    """,
    "CREATE INDEX taken_signatures_by_end ON taken_signatures (expires)",
  ]

  /// Stores a signature; false if it was used before.
  func take(_ signature: [UInt8], ofKey keyID: String, until expires: Timestamp) throws -> Bool {
    try connection.run(
      """
      INSERT INTO taken_signatures (key_id, signature, expires) VALUES ($1, $2, $3)
      ON CONFLICT DO NOTHING
      """, [.text(keyID), .bytes(signature), .integer(expires.milliseconds)]) == 1
  }

  /// Deletes a batch of expired signatures; returns whether there may be more. A batch has at most
  /// ``Retention/batch`` rows.
  ///
  /// - Parameter now: milliseconds since 1970.
  func trim(at now: Int64) throws -> Bool {
    try connection.run(
      """
      DELETE FROM taken_signatures WHERE (key_id, signature) IN (
        SELECT key_id, signature FROM taken_signatures WHERE expires <= $1 LIMIT $2)
      """, [.integer(now), .integer(Retention.batch)]) == Int(Retention.batch)
  }
}
