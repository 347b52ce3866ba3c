/// The databases that several servers dispatch, each a part.
public protocol PartitionStore: Sendable {
  /// Into how many parts a database is divided.
  func partition(of database: DatabaseID) async throws -> Partition
  /// Divides a database into so many parts, or makes it whole again with 1. The changes that are there
  /// are dispatched in the parts there were, the first of those after them when that is done.
  ///
  /// - Parameter parts: one of ``DatabasePart/counts``.
  /// - Throws: ``StoreError/Code/notFound`` for a database that is not there.
  @discardableResult
  func partition(_ database: DatabaseID, into parts: Int) async throws -> Partition
  /// The parts of all databases that are divided, in order.
  func dividedDatabases() async throws -> [PartLease]
}
