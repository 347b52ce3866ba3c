import CloudKitModel
import SQLEngine

/// Hashes of the users' passwords. A user without a row signs in at an OpenID Connect issuer.
struct PasswordTable: Table {
  let transaction: StoreTransaction

  /// The server makes `hash`: the store neither computes nor compares hashes.
  static let definition = [
    """
    CREATE TABLE user_passwords (
      user_record_name TEXT PRIMARY KEY, hash TEXT NOT NULL, changed BIGINT NOT NULL)
    """
  ]

  func hash(ofUserNamed name: String) throws -> String? {
    try connection.text(sql.hash, [.text(name)])
  }

  func changed(of userRecordName: String) throws -> Timestamp? {
    try connection.first(sql.changed, [.text(userRecordName)]) { $0.time(0) }
  }

  /// Returns false if no user has this name. Nothing is stored then.
  func setHash(
    _ hash: String, ofUserNamed name: String, at timestamp: Timestamp
  ) throws -> Bool {
    try connection.run(sql.set, [.text(name), .text(hash), .time(timestamp)]) == 1
  }

  struct Statements {
    let hash: Statement = """
      SELECT user_passwords.hash FROM user_passwords
      JOIN users ON users.user_record_name = user_passwords.user_record_name
      WHERE users.name = $1
      """
    let changed: Statement = "SELECT changed FROM user_passwords WHERE user_record_name = $1"
    let set: Statement = """
      INSERT INTO user_passwords (user_record_name, hash, changed)
      SELECT user_record_name, $2, $3 FROM users WHERE name = $1
      ON CONFLICT (user_record_name)
      DO UPDATE SET hash = excluded.hash, changed = excluded.changed
      """
  }
  static let sql = Statements()
}
