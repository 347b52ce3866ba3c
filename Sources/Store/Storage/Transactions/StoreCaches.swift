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
