/// The division of databases into parts, so that several servers can dispatch one database's
/// changes: see ``DatabasePart``.
public protocol PartitionStore: Sendable {
  /// Returns the number of parts of a database, and the future number if another division is
  /// pending.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  func partition(of database: DatabaseID) async throws -> Partition
  /// Divides a database into `parts` parts; 1 makes the database whole again. If changes wait in
  /// the outbox, the present parts dispatch them first, and the division happens then.
  ///
  /// - Parameter parts: one of ``DatabasePart/counts``; any other number ends the process.
  /// - Returns: the present number of parts, and the future number if the division is pending.
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  @discardableResult
  func partition(_ database: DatabaseID, into parts: Int) async throws -> Partition
  /// Returns the leases of the parts of all divided databases, in the order of databases and parts.
  func dividedDatabases() async throws -> [PartLease]
}
