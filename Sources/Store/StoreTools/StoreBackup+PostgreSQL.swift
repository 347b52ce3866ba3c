import Foundation
import SQLEngine
import Storage
import StoreModel

extension StoreBackup {
  /// Prepares a store in PostgreSQL that PostgreSQL's own programs restored from an older copy, for
  /// clients that know a newer state: no number is reused, and earlier change tokens expire.
  ///
  /// Each database is prepared by itself. Preparing one twice is harmless, so after an interruption
  /// it starts from the beginning. Until the end the store cannot be opened.
  ///
  /// - Parameter nothingLost: whether the copy has everything that was ever acknowledged. Then
  ///   numbers and tokens stay, and only the store's location is updated.
  /// - Returns: the number of databases.
  /// - Throws: ``StoreError/Code/cannotOpen`` if there is no store, or a server has it open;
  ///   ``StoreError/Code/newerSchema`` if a newer Petrel wrote it.
  @discardableResult
  public static func completeRestoration(
    at address: PostgreSQLAddress, nothingLost: Bool = false
  ) async throws -> Int {
    try await SQLStore.onThread {
      // Takes the exclusive lock, so that no server can have the store open.
      let settings = PostgreSQLConnection.Settings(statementTimeout: 0, serving: .alone)
      let connection = try PostgreSQLConnection(to: address, settings: settings)
      defer { connection.close() }
      try checkSchemaVersion(of: connection, at: address)
      let databases = try connection.rows("SELECT database_id FROM databases", []) {
        $0.integer(0)
      }
      for database in databases where !nothingLost {
        try connection.beginWriting()
        do {
          try expireTokens(of: database, over: connection)
          try connection.commit()
        } catch {
          connection.giveUpTransaction()
          throw error
        }
      }
      try ServedLocation.note(connection)
      return databases.count
    }
  }

  /// Checks that the database has a store of a version that this program knows.
  private static func checkSchemaVersion(
    of connection: PostgreSQLConnection, at address: PostgreSQLAddress
  ) throws {
    // A failure is ignored: without the table there is no store.
    let version = try? Migration.version(over: connection)
    guard let version, version != Migration.unfinishedVersion else {
      throw StoreError(.cannotOpen, "there is no Petrel store at \(address)")
    }
    try Schema.checkIsKnown(version, at: "\(address)")
  }

  /// Makes all change tokens of a database's older states expire, and leaves a gap in its numbers.
  private static func expireTokens(
    of database: Int64, over connection: PostgreSQLConnection
  ) throws {
    try connection.run(
      """
      UPDATE databases SET last_number = last_number + $2, trimmed_version = last_number + $2
      WHERE database_id = $1
      """, [.integer(database), .integer(numberGap)])
    // A database's feed goes from version to version, so no two zones may have the same version.
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
