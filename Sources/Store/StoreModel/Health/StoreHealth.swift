/// The measurements of a running store, for metrics and health checks.
public protocol StoreHealth: Sendable {
  /// The store's metrics. The property reads counters in memory: it does not wait for a thread, and
  /// runs no statement.
  var metrics: StoreMetrics { get }
  /// Returns the store's size; nil for a store in memory. For PostgreSQL, the result is the size at
  /// the last lookup, which runs in the background. It is nil before the first lookup ends, and
  /// after a failed one.
  func fileSizes() async -> StoreFileSizes?
  /// Checks that the store can write: commits a transaction that writes an unchanged row.
  ///
  /// - Throws: the ``StoreError`` of the transaction if the store cannot write.
  func checkWriting() async throws
}
