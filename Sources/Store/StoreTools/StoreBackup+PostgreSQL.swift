import Foundation
import SQLEngine
import Storage
import StoreModel

extension StoreBackup {
  /// Makes a store in PostgreSQL that was put back from an older copy, by PostgreSQL's own programs, one that
  /// clients may meet who knew a newer one: no number is used again, and change tokens from before expire.
  ///
  /// Each database is done by itself, and what is done twice does no harm: after an interruption it is
  /// simply begun anew. Until it is done the store cannot be opened.
  ///
  /// - Parameter nothingLost: whether the copy has all that was ever acknowledged. Numbers and tokens stay as
  ///   they are then, and the store is only told that this is its place.
  /// - Returns: how many databases there are.
  /// - Throws: ``StoreError/Code/cannotOpen`` when there is no store, or a server has it open;
  ///   ``StoreError/Code/newerSchema`` when a newer Petrel wrote it.
  @discardableResult
  public static func completeRestoration(
    at address: PostgreSQLAddress, nothingLost: Bool = false
  ) async throws -> Int {
    try await SQLStore.onThread {
      // As a server would, so that none can be there.
      let settings = PostgreSQLConnection.Settings(statementTimeout: 0, serving: .alone)
      let connection = try PostgreSQLConnection(to: address, settings: settings)
      defer { connection.close() }
      try checkForm(of: connection, at: address)
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
      try StorePlace.note(connection)
      return databases.count
    }
  }

  private static func checkForm(
    of connection: PostgreSQLConnection, at address: PostgreSQLAddress
  ) throws {
    // Without the table there is no store.
    let version = try? Migration.version(over: connection)
    guard let version, version != Migration.unfinishedVersion else {
      throw StoreError(.cannotOpen, "there is no store of Petrel at \(address)")
    }
    try Schema.checkIsKnown(version, at: "\(address)")
  }

  private static func expireTokens(
    of database: Int64, over connection: PostgreSQLConnection
  ) throws {
    try connection.run(
      """
      UPDATE databases SET last_number = last_number + $2, trimmed_version = last_number + $2
      WHERE database_id = $1
      """, [.integer(database), .integer(numberGap)])
    // Feeds of a database go from version to version, so no two zones may have the same.
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
