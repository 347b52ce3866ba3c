/// The health of a store.
public protocol StoreHealth: Sendable {
  /// The store's metrics; cheap, and never waits.
  var metrics: StoreMetrics { get }
  /// The store's size; nil for a store in memory. For PostgreSQL it is looked up in the background
  /// and nil until then.
  func fileSizes() async -> StoreFileSizes?
  /// Commits a transaction without effect, to check that the store can write.
  func checkWriting() async throws
}
