import CloudKitModel
import SQLEngine
import StoreModel

/// How far the changes of private databases are forwarded to the shared databases of participants.
///
/// The dispatcher of a private database forwards a change before it marks the change as dispatched.
/// After a crash it forwards the change again, and this table shows which participants have it.
struct ForwardTable {
  let transaction: StoreTransaction
  private var connection: any SQLConnection { transaction.connection }

  /// `database_id` is the shared database, and `source_database` the owner's private database.
  /// `through` is the number of the last forwarded change, from the sequence of the latter.
  static let definition = [
    """
    CREATE TABLE forwards (
      database_id BIGINT NOT NULL, source_database BIGINT NOT NULL, through BIGINT NOT NULL,
      PRIMARY KEY (database_id, source_database))
    """
  ]

  /// Returns the number of the last change of `source` that was forwarded to a shared database; nil
  /// if there is none.
  func position(of source: DatabaseID, in database: DatabaseID) throws -> Int64? {
    try connection.first(
      "SELECT through FROM forwards WHERE database_id = $1 AND source_database = $2",
      [.integer(database.rawValue), .integer(source.rawValue)]
    ) { $0.integer(0) }
  }

  /// Stores the number of the last change of `source` that was forwarded to a shared database.
  func write(_ through: Int64, of source: DatabaseID, in database: DatabaseID) throws {
    try connection.run(
      """
      INSERT INTO forwards (database_id, source_database, through) VALUES ($1, $2, $3)
      ON CONFLICT (database_id, source_database) DO UPDATE SET through = excluded.through
      """,
      [.integer(database.rawValue), .integer(source.rawValue), .integer(through)])
  }
}
