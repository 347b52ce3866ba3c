/// The division of databases into parts, so that several servers can dispatch one database.
public protocol PartitionStore: Sendable {
  /// Returns the number of parts of a database, and a pending change of that number.
  func partition(of database: DatabaseID) async throws -> Partition
  /// Divides a database into `parts` parts; 1 makes it whole again. Changes already in the outbox
  /// are dispatched in the old parts. The new parts begin after that with the next change.
  ///
  /// - Parameter parts: one of ``DatabasePart/counts``.
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  @discardableResult
  func partition(_ database: DatabaseID, into parts: Int) async throws -> Partition
  /// Returns the parts of all divided databases with their holders, in order.
  func dividedDatabases() async throws -> [PartLease]
}
