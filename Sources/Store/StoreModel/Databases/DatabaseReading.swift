import CloudKitModel

/// The lookups of databases. No method creates a database.
public protocol DatabaseReading: Sendable {
  /// Returns the number of the database at this address; nil if there is no such database yet.
  func existingDatabase(at address: DatabaseAddress) async throws -> DatabaseID?
  /// Returns a database's address.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  func address(of database: DatabaseID) async throws -> DatabaseAddress
  /// Returns the storage that a private or public database uses after the last commit; nil for a
  /// shared database.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  func usage(of database: DatabaseID) async throws -> DatabaseUsage?
}
