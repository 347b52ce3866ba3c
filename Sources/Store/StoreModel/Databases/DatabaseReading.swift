import CloudKitModel

/// Lookups of databases. They create none.
public protocol DatabaseReading: Sendable {
  /// Returns the number of a database; nil if the database was never used.
  func existingDatabase(at address: DatabaseAddress) async throws -> DatabaseID?
  /// Returns a database's address.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  func address(of database: DatabaseID) async throws -> DatabaseAddress
  /// Returns the storage that a private or public database uses, exactly as of the last commit; nil
  /// for a shared database.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  func usage(of database: DatabaseID) async throws -> DatabaseUsage?
}
