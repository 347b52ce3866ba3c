/// How a store is doing.
public protocol StoreHealth: Sendable {
  /// How the store is doing; cheap, and waits for nobody.
  var metrics: StoreMetrics { get }
  /// What it takes; nil for a store in memory, and until that of one in PostgreSQL was looked up, for
  /// which nobody waits.
  func fileSizes() async -> StoreFileSizes?
  /// Commits something that changes nothing, so that it is known whether the store can.
  func checkWriting() async throws
}
