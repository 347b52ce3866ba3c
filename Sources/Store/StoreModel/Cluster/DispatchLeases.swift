/// The leases that decide which server dispatches the changes of which databases.
public protocol DispatchLeases: Sendable {
  /// Returns the databases and parts that are leased to a server, in no order.
  func leasedParts(of server: ServerID) async throws -> [DatabasePart]
  /// Whether a server holds the lease of a part, in the division that the part names.
  func isLeased(_ part: DatabasePart, to server: ServerID) async throws -> Bool
  /// Returns the databases and parts leased to a server in which other servers have committed
  /// changes since the last call. The call clears the marks that it returns.
  func wakeUps(of server: ServerID) async throws -> WakeUps
  /// Returns up to `limit` databases after `database`, in order, that may have changes and have no
  /// valid lease. Divided databases are not among them: ``PartitionStore/dividedDatabases()`` has
  /// their parts.
  func freeDatabases(after database: DatabaseID, limit: Int) async throws -> [FreePart]
  /// Leases a database or a part of one to a server; false if another server was faster.
  func lease(_ part: FreePart, to server: ServerID) async throws -> Bool
  /// Ends the lease of a whole database if all its changes are dispatched; false if some wait.
  func endLease(of database: DatabaseID, by server: ServerID) async throws -> Bool
  /// Ends the lease of a part of a divided database, so that another server can take it.
  func release(_ part: DatabasePart, by server: ServerID) async throws
}
