import CloudKitModel
import StoreModel

/// The databases of the store, and their numbers by their addresses.
///
/// Every node of a distributed store has `database_addresses` whole. The rows of `databases` are
/// distributed by their number, as those of all tables that grow with the data, and `databases` has no
/// other key for that.
struct DatabaseTable {
  let session: StoreSession
  private var connection: any SQLConnection { session.connection }

  /// `stored_bytes` counts the records and assets of a database. `trimmed_version` is the newest deletion
  /// of a zone that was forgotten.
  static let definition = [
    """
    CREATE TABLE databases (
      database_id BIGINT PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
      scope BIGINT NOT NULL, owner TEXT NOT NULL, last_number BIGINT NOT NULL,
      subscription_version BIGINT NOT NULL, forgotten_version BIGINT NOT NULL,
      trimmed_version BIGINT NOT NULL DEFAULT 0, stored_bytes BIGINT NOT NULL DEFAULT 0)
    """,
    """
    CREATE TABLE database_addresses (
      container TEXT NOT NULL, environment TEXT NOT NULL, scope BIGINT NOT NULL,
      owner TEXT NOT NULL, number BIGINT NOT NULL,
      PRIMARY KEY (container, environment, scope, owner))
    """,
    "CREATE UNIQUE INDEX database_addresses_by_number ON database_addresses (number)",
  ]

  // MARK: Numbers and versions

  /// The greatest number that was given to a record, a version or a zone of the database, if that is
  /// one of the container.
  func lastNumber(
    drawnIn database: DatabaseID, of container: String, in environment: ContainerEnvironment
  ) throws -> Int64? {
    try connection.first(
      """
      SELECT last_number FROM databases
      WHERE database_id = $1 AND container = $2 AND environment = $3
      """,
      [.integer(database.rawValue), .text(container), .text(environment.rawValue)]
    ) { $0.integer(0) }
  }

  /// A database's subscription version, and that up to which deletions were forgotten.
  func subscriptionVersion(
    of database: DatabaseID
  ) throws -> (current: Int64, forgotten: Int64) {
    let versions = try connection.first(
      """
      SELECT subscription_version, forgotten_version FROM databases WHERE database_id = $1
      """, [.integer(database.rawValue)]
    ) { (current: $0.integer(0), forgotten: $0.integer(1)) }
    guard let versions else {
      throw StoreError(.notFound, "there is no database with the number \(database.rawValue)")
    }
    return versions
  }

  /// Raises a database's subscription version by one and returns it.
  func raiseSubscriptionVersion(of database: DatabaseID) throws -> Int64 {
    try session.checkLock(of: database)
    let version = try connection.first(
      """
      UPDATE databases SET subscription_version = subscription_version + 1
      WHERE database_id = $1 RETURNING subscription_version
      """, [.integer(database.rawValue)]
    ) { $0.integer(0) }
    guard let version else {
      throw StoreError(.notFound, "there is no database with the number \(database.rawValue)")
    }
    return version
  }

  /// Keeps that the deletions of subscriptions up to a version are forgotten.
  func note(forgottenSubscriptions version: ForgottenVersion) throws {
    try connection.run(
      "UPDATE databases SET forgotten_version = $2 WHERE database_id = $1 AND forgotten_version < $2",
      version.arguments)
  }
}
