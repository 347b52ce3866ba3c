/// What a connection keeps beyond its transactions, and what becomes of it when a transaction ends.
///
/// | cache | belongs to | is updated | when a commit fails or a transaction is rolled back |
/// | --- | --- | --- | --- |
/// | ``Catalog`` | the connection | while the transaction runs | is emptied |
/// | ``NotificationTail`` | the store | after the commit | is unchanged |
/// | ``SearchCache`` | the readers | in read transactions, by versions of databases | is unchanged |
///
/// The ``SchemaCache`` is before the transactions, where records are prepared. ``StoreWriter`` updates it after the commit,
/// so it is unchanged, too.
struct StoreCaches {
  let catalog = Catalog()
  /// The log entries that wait to be filed; nil if all are filed at once.
  var tail: NotificationTail?
  /// The search cache; nil for writers, and on a shared store.
  var searchCache: SearchCache?
  /// Requests an entry of the search cache.
  var fillSearchCache: (@Sendable (SearchCacheEntry.Name) -> Void)?

  /// Takes over what a committed transaction changed.
  func committed(_ transaction: StoreTransaction) {
    tail?.apply(transaction.tailChange)
  }

  /// Drops what a transaction may have put in that was rolled back.
  func rolledBack() {
    catalog.empty()
  }
}
