import CloudKitModel

/// Reads about databases without creating one.
public protocol DatabaseReading: Sendable {
  /// The number of a database; nil if it was never used.
  func existingDatabase(at address: DatabaseAddress) async throws -> DatabaseID?
  func address(of database: DatabaseID) async throws -> DatabaseAddress
  /// The storage that a private or public database uses; nil for a shared one. Exact after each
  /// commit.
  func usage(of database: DatabaseID) async throws -> DatabaseUsage?
}
