import SQLEngine

/// A connection of an open store, with the connection's caches.
///
/// Only one thread uses the connection: the thread of ``Store`` for which it was opened.
final class StoreConnection {
  let engine: any SQLConnection
  let gate: StatementGate
  /// ``Catalog/tables``, for the gate.
  let cachedTables: StatementGate.Tables
  let context: StoreContext
  let caches: StoreCaches

  /// No other thread uses the engine's connection. By default, there is neither a tail of the
  /// notification log nor a search cache.
  init(
    over engine: any SQLConnection, _ context: StoreContext, caches: StoreCaches = StoreCaches()
  ) {
    self.engine = engine
    // A tool opens its connection by itself.
    gate = engine.gate ?? StatementGate(tables: Schema.tableNames)
    cachedTables = gate.tables(named: Catalog.tables)
    engine.gate = gate
    gate.runsRowByRow = context.isDistributed
    self.context = context
    self.caches = caches
  }
}

/// The caches of a connection, which outlive its transactions.
///
/// - ``Catalog``: belongs to the connection, and is filled by running transactions with committed
///   data, so a rollback leaves it unchanged.
/// - ``NotificationTail``: belongs to the store. The writer updates it after a commit, so a
///   rollback leaves it unchanged.
/// - ``SearchCache``: belongs to the readers, who fill it. An entry is valid for one version of
///   its database, so a rollback leaves it unchanged.
///
/// The ``SchemaCache`` is not here, because records are prepared before a transaction.
/// ``StoreWriter`` updates it after the commit.
struct StoreCaches {
  let catalog = Catalog()
  var tail: NotificationTail?
  var searchCache: SearchCache?
  var fillSearchCache: (@Sendable (SearchCacheEntry.Name) -> Void)?

  func committed(_ transaction: StoreTransaction) {
    tail?.apply(transaction.tailChange)
  }
}
