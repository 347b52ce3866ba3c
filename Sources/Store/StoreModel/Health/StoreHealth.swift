/// The measurements of a running store, for metrics and health checks.
public protocol StoreHealth: Sendable {
  /// The store's metrics. Reading them is cheap, never waits, and does not read the store's file.
  var metrics: StoreMetrics { get }
  /// Returns the store's size; nil for a store in memory. For PostgreSQL the size is looked up in
  /// the background, and the result is nil until then.
  func fileSizes() async -> StoreFileSizes?
  /// Commits a transaction without effect, to check that the store can write. It throws the
  /// ``StoreError`` of a transaction that fails.
  func checkWriting() async throws
}
