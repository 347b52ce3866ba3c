import Foundation
import SQLEngine
import Storage

extension StoreBackup {
  /// Completes the restoration of a store by PostgreSQL's own programs. Clients may know a newer
  /// state than the copy, so their change tokens expire, and each database gets a gap in its
  /// numbers.
  ///
  /// Each database is changed in a transaction of its own. After an interruption call the method
  /// again: it begins with the first database, and a second change does no harm. Servers cannot
  /// open the store before the end.
  ///
  /// - Parameter nothingLost: whether the copy has every acknowledged change. If so, numbers and
  ///   change tokens stay, and only the new location is stored.
  /// - Returns: the number of databases.
  /// - Throws: ``StoreError/Code/cannotOpen`` if there is no store, or a server has it open;
  ///   ``StoreError/Code/newerSchema`` or ``StoreError/Code/olderSchema`` if this program does not
  ///   know the store's schema version.
  @discardableResult
  public static func completeRestoration(
    at address: PostgreSQLAddress, nothingLost: Bool = false
  ) async throws -> Int {
    try await Store.onThread {
      // This connection takes the exclusive lock of the store, so no server can have the store
      // open.
      let settings = PostgreSQLConnection.Settings(statementTimeout: 0, serving: .alone)
      let connection = try PostgreSQLConnection(to: address, settings: settings)
      defer { connection.close() }
      try checkSchemaVersion(
        of: connection, at: "\(address)", otherwise: "there is no Petrel store at \(address)")
      let databases = try connection.integers("SELECT database_id FROM databases", [])
      for database in databases where !nothingLost {
        try connection.beginWriting()
        try connection.committing { try expireTokens(of: database, over: connection) }
      }
      try ServedLocation.note(connection)
      return databases.count
    }
  }

  static func expireTokens(of database: Int64, over connection: any SQLConnection) throws {
    try connection.run(
      """
      UPDATE databases SET last_number = last_number + $2, trimmed_version = last_number + $2
      WHERE database_id = $1
      """, [.integer(database), .integer(numberGap)])
    // A page of a database's feed can end after any zone, and the next page begins after that
    // zone's version. So each zone needs a version of its own.
    try connection.run(
      """
      WITH ranked AS (
        SELECT zones.zone_number, last_number + 1 - ROW_NUMBER() OVER (
          ORDER BY zones.version DESC, zones.zone_number) AS version
        FROM zones JOIN databases ON databases.database_id = zones.database_id
        WHERE zones.database_id = $1)
      UPDATE zones SET version = ranked.version, trimmed_version = ranked.version FROM ranked
      WHERE zones.database_id = $1 AND zones.zone_number = ranked.zone_number
      """, [.integer(database)])
  }
}
