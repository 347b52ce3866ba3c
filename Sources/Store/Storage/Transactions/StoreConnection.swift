import SQLEngine

/// A connection of an open store, with the connection's caches.
///
/// Only one thread uses the connection: the thread of ``Store`` for which it was opened.
final class StoreConnection {
  /// The connection to SQLite or PostgreSQL.
  let engine: any SQLConnection
  /// The gate that each statement passes.
  let gate: StatementGate
  /// The constants of the store, which all connections share.
  let context: StoreContext
  /// The caches that outlive a transaction.
  let caches: StoreCaches

  /// Creates a connection.
  ///
  /// - Parameters:
  ///   - engine: the open connection of the engine, which no other thread uses.
  ///   - context: the constants of the store.
  ///   - caches: the caches; by default new ones, without the tail of the notification log and
  ///     without the search cache.
  init(
    over engine: any SQLConnection, _ context: StoreContext, caches: StoreCaches = StoreCaches()
  ) {
    self.engine = engine
    // A tool opens its connection by itself.
    gate = engine.gate ?? StatementGate(tables: WriteSet.Table.allCases.map(\.name))
    engine.gate = gate
    gate.runsRowByRow = context.isDistributed
    self.context = context
    self.caches = caches
  }
}
