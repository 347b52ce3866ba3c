import SQLEngine

/// A connection of an open store with its caches.
///
/// One thread at a time uses it: the thread of ``SQLStore`` that it was opened for.
final class StoreConnection {
  /// The connection to SQLite or PostgreSQL.
  let engine: any SQLConnection
  /// The constants of the store, which all connections share.
  let context: StoreContext
  /// The caches that outlive a transaction.
  let caches: StoreCaches

  /// Creates a connection.
  ///
  /// - Parameters:
  ///   - engine: the open connection of the engine, which no other thread uses.
  ///   - context: the constants of the store.
  ///   - caches: the caches; by default new ones, without the tail and the search cache.
  init(
    over engine: any SQLConnection, _ context: StoreContext, caches: StoreCaches = StoreCaches()
  ) {
    self.engine = engine
    self.context = context
    self.caches = caches
  }
}
