import SQLEngine

/// A connection of an open store, with what its transactions remember for the next. One thread at a time
/// uses it.
///
/// Four caches outlive a transaction. For each there is a rule that says when it learns of a change:
///
/// | cache | whose | learns | when the transaction is rolled back |
/// | --- | --- | --- | --- |
/// | ``Catalog`` | the connection's | while the transaction runs | it is emptied |
/// | ``SchemaCache`` | the writers' | after the commit | it learns nothing |
/// | ``NotificationTail`` | the store's | after the commit | it learns nothing |
/// | ``SearchCache`` | the readers' | in read transactions, by versions of databases | nothing is rolled back |
final class StoreConnection {
  let engine: any SQLConnection
  let context: StoreContext
  let catalog = Catalog()
  /// The entries of the notification log that wait to be filed; nil where all are filed at once.
  let tail: NotificationTail?
  /// What searches have cached of the index and share; nil where what they read may be rolled back.
  let searchCache: SearchCache?
  /// Has an entry of the search cache made that is wanted.
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
