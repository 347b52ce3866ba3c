import SQLEngine
import StoreModel

/// The databases in which each user has ever had subscriptions. Each node of a distributed store
/// has a copy of the table (``StoreDistribution``), because the store reads it before the database
/// is known. A row stays when the user deletes the last subscription, because the notification log
/// may still have entries for the user.
struct SubscriberDatabaseTable: Table {
  let transaction: StoreTransaction

  static let definition = [
    """
    CREATE TABLE subscriber_databases (
      subscriber TEXT NOT NULL, number BIGINT NOT NULL,
      PRIMARY KEY (subscriber, number)) /*clustered*/
    """
  ]

  /// Reads before it writes, because most calls find the row.
  func enter(_ database: DatabaseID, of subscriber: String) throws {
    let key: [SQLValue] = [.text(subscriber), .id(database)]
    if try !connection.exists(sql.exists, key) { try decide(sql.add, key) }
  }

  func databases(of subscriber: String) throws -> [DatabaseID] {
    try connection.rows(sql.databases, [.text(subscriber)]) { $0.database(0) }
  }

  func next(after database: DatabaseID, of subscriber: String) throws -> DatabaseID? {
    try connection.first(sql.next, [.text(subscriber), .id(database)]) { $0.database(0) }
  }

  /// Returns the databases in the recipient's container and environment whose logs may have entries
  /// for the user.
  ///
  /// - Complexity: O(*d* log *n*) for *d* databases of all containers in which the user has ever
  ///   had subscriptions, and *n* databases in the store.
  func notifiedDatabases(of recipient: Recipient) throws -> [NotifiedDatabase] {
    try databases(of: recipient.userRecordName).compactMap { database in
      let lastNumber = try DatabaseTable(transaction: transaction).lastNumber(
        drawnIn: database, of: recipient.container, in: recipient.environment)
      guard let lastNumber else { return nil }
      let trimmedThrough = try NotificationLogTable(transaction: transaction)
        .trimmedThrough(of: recipient.userRecordName, in: database)
      return NotifiedDatabase(
        id: database, trimmedThrough: trimmedThrough, lastNumber: lastNumber)
    }
  }

  struct Statements {
    let exists: Statement =
      "SELECT 1 FROM subscriber_databases WHERE subscriber = $1 AND number = $2"
    let add: Statement = "INSERT INTO subscriber_databases (subscriber, number) VALUES ($1, $2)"
    let databases: Statement =
      "SELECT number FROM subscriber_databases WHERE subscriber = $1 ORDER BY number"
    let next: Statement = """
      SELECT number FROM subscriber_databases WHERE subscriber = $1 AND number > $2
      ORDER BY number LIMIT 1
      """
  }
  static let sql = Statements()
}
