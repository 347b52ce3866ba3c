/// The caches of a connection, which outlive its transactions.
///
/// - ``Catalog``: belongs to the connection. Transactions fill the catalog while they run. A
///   rollback, also one to a savepoint, or a failed commit empties it if the transaction has written
///   rows at once (``WriteSet`` has the others).
/// - ``NotificationTail``: belongs to the store. The writer updates the tail after a commit, so a
///   rollback leaves it unchanged.
/// - ``SearchCache``: belongs to the readers. They fill the cache in read transactions. An entry is
///   valid for one version of its database, so a rollback leaves the cache unchanged.
///
/// The ``SchemaCache`` is not in this type, because records are prepared before a transaction.
/// ``StoreWriter`` updates that cache after the commit, so a rollback leaves it unchanged, too.
struct StoreCaches {
  /// The cached addresses, zones and schemas of this connection.
  let catalog = Catalog()
  /// The entries of the notification log that wait to be filed (added to the log's index by
  /// subscriber); nil if each entry is filed at once.
  var tail: NotificationTail?
  /// The search cache; nil for writers, and on a shared store.
  var searchCache: SearchCache?
  /// The function that asks another thread to make an entry of the search cache; nil if
  /// ``searchCache`` is nil.
  var fillSearchCache: (@Sendable (SearchCacheEntry.Name) -> Void)?

  /// Applies the changes of a committed transaction to ``tail``. Call the method only after the
  /// commit.
  func committed(_ transaction: StoreTransaction) {
    tail?.apply(transaction.tailChange)
  }

  /// Empties ``catalog``, which may have rows of a transaction that was rolled back.
  func rolledBack() {
    catalog.empty()
  }
}
