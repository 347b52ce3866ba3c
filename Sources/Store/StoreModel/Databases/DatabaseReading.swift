import CloudKitModel

/// What is known of databases. Nothing of this makes one.
public protocol DatabaseReading: Sendable {
  /// The number of a database; nil where it was never used.
  func existingDatabase(at address: DatabaseAddress) async throws -> DatabaseID?
  func address(of database: DatabaseID) async throws -> DatabaseAddress
  /// How much a private or public database holds; nil for a shared one. Exact after each commit.
  func usage(of database: DatabaseID) async throws -> DatabaseUsage?
}
