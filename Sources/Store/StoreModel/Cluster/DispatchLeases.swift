/// The leases of databases. A lease is the right of one server, the holder, to dispatch a
/// database's changes. A database can be divided into parts (``DatabasePart``), each with a lease
/// of its own.
public protocol DispatchLeases: Sendable {
  /// Returns the databases and parts whose leases a server has, in no order.
  func leasedParts(of server: ServerID) async throws -> [DatabasePart]
  /// Whether a server has the lease of a part. The result is false if the database is now divided
  /// into another number of parts.
  func isLeased(_ part: DatabasePart, to server: ServerID) async throws -> Bool
  /// Returns the databases and parts of a server in which other processes have committed changes. A
  /// commit marks the lease in this case; the call clears the marks that it returns.
  func wakeUps(of server: ServerID) async throws -> WakeUps
  /// Returns up to `limit` databases after `database` that may have changes to dispatch, and whose
  /// lease no registered server has. The order is that of the databases' numbers. Divided databases
  /// are left out: ``PartitionStore/dividedDatabases()`` returns their parts.
  func freeDatabases(after database: DatabaseID, limit: Int) async throws -> [FreePart]
  /// Leases a database, or a part of a database, to a server. Returns false if another server has
  /// the lease by now.
  func lease(_ part: FreePart, to server: ServerID) async throws -> Bool
  /// Ends a server's lease of a whole database if all its changes are dispatched. Returns false,
  /// and changes nothing, if some changes wait. Returns true if the server has no such lease.
  func endLease(of database: DatabaseID, by server: ServerID) async throws -> Bool
  /// Ends a server's lease of a part of a divided database, so that another server can lease the
  /// part.
  func release(_ part: DatabasePart, by server: ServerID) async throws
}
