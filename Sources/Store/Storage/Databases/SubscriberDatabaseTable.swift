import CloudKitModel
import SQLEngine
import StoreModel

/// The databases in which users have ever had subscriptions. The table is used before the database
/// is known, so it is replicated to every node of a distributed store.
///
/// A row stays when the user deletes the last subscription, because the log may still have
/// notifications for the user.
struct SubscriberDatabaseTable {
  let transaction: StoreTransaction
  private var connection: any SQLConnection { transaction.connection }

  static let definition = [
    """
    CREATE TABLE subscriber_databases (
      subscriber TEXT NOT NULL, number BIGINT NOT NULL,
      PRIMARY KEY (subscriber, number)) /*clustered*/
    """
  ]

  /// Adds a database to those of a user, if it is missing. The method reads before it writes,
  /// because the row is there in most cases.
  func enter(_ database: DatabaseID, of subscriber: String) throws {
    let key: [SQLValue] = [.text(subscriber), .integer(database.rawValue)]
    let known = try connection.first(
      "SELECT 1 FROM subscriber_databases WHERE subscriber = $1 AND number = $2", key
    ) { _ in true }
    guard known == nil else { return }
    try connection.run(
      "INSERT INTO subscriber_databases (subscriber, number) VALUES ($1, $2)", key)
  }

  /// The databases of all containers in which a user has ever had subscriptions, in the order of their
  /// numbers.
  func databases(of subscriber: String) throws -> [DatabaseID] {
    try connection.rows(
      "SELECT number FROM subscriber_databases WHERE subscriber = $1 ORDER BY number",
      [.text(subscriber)]
    ) { DatabaseID(rawValue: $0.integer(0)) }
  }

  /// The next database in which a user has ever had subscriptions. The order is that of the
  /// numbers. The result is nil at the end.
  func next(after database: DatabaseID, of subscriber: String) throws -> DatabaseID? {
    try connection.first(
      """
      SELECT number FROM subscriber_databases WHERE subscriber = $1 AND number > $2
      ORDER BY number LIMIT 1
      """, [.text(subscriber), .integer(database.rawValue)]
    ) { DatabaseID(rawValue: $0.integer(0)) }
  }

  /// The databases of the recipient's container in which the user has ever had subscriptions, and
  /// so may have been notified.
  ///
  /// - Returns: each database with its last number, and the position up to which its log was
  ///   trimmed for the user.
  /// - Complexity: O(*d* log *n*) for *d* databases of all containers.
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
}
