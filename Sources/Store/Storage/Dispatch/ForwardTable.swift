import CloudKitModel
import SQLEngine
import StoreModel

/// How far the changes of private databases are forwarded to the shared databases of participants.
///
/// The dispatcher of a private database forwards a change before it marks the change as dispatched.
/// After a crash it forwards the change again, and this table shows which participants have it.
struct ForwardTable: Table {
  let transaction: StoreTransaction

  /// `database_id` is the shared database. `through` is a change of the private one.
  static let definition = [
    """
    CREATE TABLE forwards (
      database_id BIGINT NOT NULL, source_database BIGINT NOT NULL, through BIGINT NOT NULL,
      PRIMARY KEY (database_id, source_database))
    """
  ]

  func position(of source: DatabaseID, in database: DatabaseID) throws -> Int64? {
    try connection.integer(sql.position, [.id(database), .integer(source.rawValue)])
  }

  func write(_ through: Int64, of source: DatabaseID, in database: DatabaseID) throws {
    try decide(sql.write, [.id(database), .integer(source.rawValue), .integer(through)])
  }

  struct Statements {
    let position: Statement =
      "SELECT through FROM forwards WHERE database_id = $1 AND source_database = $2"
    let write: Statement = """
      INSERT INTO forwards (database_id, source_database, through) VALUES ($1, $2, $3)
      ON CONFLICT (database_id, source_database) DO UPDATE SET through = excluded.through
      """
  }
  static let sql = Statements()
}
