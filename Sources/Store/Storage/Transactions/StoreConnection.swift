import SQLEngine

/// A connection of an open store with its caches. One thread at a time uses it.
///
/// Four caches outlive a transaction:
///
/// | cache | belongs to | is updated | on rollback |
/// | --- | --- | --- | --- |
/// | ``Catalog`` | the connection | while the transaction runs | is emptied |
/// | ``SchemaCache`` | the writers | after the commit | is unchanged |
/// | ``NotificationTail`` | the store | after the commit | is unchanged |
/// | ``SearchCache`` | the readers | in read transactions, by versions of databases | is unchanged |
final class StoreConnection {
  let engine: any SQLConnection
  let context: StoreContext
  let catalog = Catalog()
  /// The log entries that wait to be filed; nil if all are filed at once.
  let tail: NotificationTail?
  /// The search cache; nil for writers, and on a shared store.
  let searchCache: SearchCache?
  /// Requests an entry of the search cache.
  let fillSearchCache: (@Sendable (SearchCacheEntry.Name) -> Void)?

  init(
    over engine: any SQLConnection, _ context: StoreContext, tail: NotificationTail? = nil,
    searchCache: SearchCache? = nil,
    fillSearchCache: (@Sendable (SearchCacheEntry.Name) -> Void)? = nil
  ) {
    self.engine = engine
    self.context = context
    self.tail = tail
    self.searchCache = searchCache
    self.fillSearchCache = fillSearchCache
  }
}
