/// The caches of a connection, which outlive its transactions.
///
/// - ``Catalog``: belongs to the connection. It is filled while a transaction runs. A rollback or a
///   failed commit empties it.
/// - ``NotificationTail``: belongs to the store. The writer updates it after a commit, so a
///   rollback leaves it unchanged.
/// - ``SearchCache``: belongs to the readers. They fill it in read transactions, by versions of
///   databases, so a rollback leaves it unchanged.
///
/// The ``SchemaCache`` is used before the transactions, where records are prepared. ``StoreWriter``
/// updates it after the commit, so a rollback leaves it unchanged, too.
struct StoreCaches {
  /// The cached addresses, zones and schemas of this connection.
  let catalog = Catalog()
  /// The log entries that wait to be filed; nil if all are filed at once.
  var tail: NotificationTail?
  /// The search cache; nil for writers, and on a shared store.
  var searchCache: SearchCache?
  /// The request for an entry of the search cache, which another thread then makes. It is nil where
  /// ``searchCache`` is.
  var fillSearchCache: (@Sendable (SearchCacheEntry.Name) -> Void)?

  /// Takes over the changes of a committed transaction. Call it after the commit only.
  func committed(_ transaction: StoreTransaction) {
    tail?.apply(transaction.tailChange)
  }

  /// Drops the rows that a rolled-back transaction may have added.
  func rolledBack() {
    catalog.empty()
  }
}
