/// Which server dispatches the changes of which databases.
public protocol DispatchLeases: Sendable {
  /// What is leased to a server.
  func leasedParts(of server: ServerID) async throws -> [DatabasePart]
  func isLeased(_ part: DatabasePart, to server: ServerID) async throws -> Bool
  /// What is leased to a server and another has committed changes of since this was asked last.
  func wakeUps(of server: ServerID) async throws -> WakeUps
  /// Databases behind `database` that may have changes and that nobody dispatches, in order; those that
  /// are divided are not among them.
  func freeDatabases(after database: DatabaseID, limit: Int) async throws -> [FreePart]
  /// Leases a database or a part of one to a server; false when another was quicker.
  func lease(_ part: FreePart, to server: ServerID) async throws -> Bool
  /// Ends the lease of a whole database when all of its changes are dispatched; false when some wait.
  func endLease(of database: DatabaseID, by server: ServerID) async throws -> Bool
  /// Ends the lease of a part of a divided database, for another server to take it.
  func release(_ part: DatabasePart, by server: ServerID) async throws
}
