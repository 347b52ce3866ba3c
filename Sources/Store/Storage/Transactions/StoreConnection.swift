import SQLEngine

/// A connection of an open store, with what its transactions remember for the next. One thread at a time
/// uses it.
///
/// Four caches outlive a transaction. For each there is a rule that says when it learns of a change:
///
/// | cache | whose | learns | when the transaction is rolled back |
/// | --- | --- | --- | --- |
/// | ``Catalog`` | the connection's | while the transaction runs | it is emptied |
/// | ``SchemaBoard`` | the writers' | after the commit | it learns nothing |
/// | ``NotificationTail`` | the store's | after the commit | it learns nothing |
/// | ``ExtractShelf`` | the readers' | in read transactions, by versions of databases | nothing is rolled back |
final class StoreConnection {
  let engine: any SQLConnection
  let context: StoreContext
  let catalog = Catalog()
  /// The entries of the notification log that wait to be filed; nil where all are filed at once.
  let tail: NotificationTail?
  /// The extracts of the index that searches share; nil where what they read may be rolled back.
  let extracts: ExtractShelf?
  /// Has an extract made that is wanted.
  let makeExtract: (@Sendable (IndexExtract.Name) -> Void)?

  init(
    over engine: any SQLConnection, _ context: StoreContext, tail: NotificationTail? = nil,
    extracts: ExtractShelf? = nil, makeExtract: (@Sendable (IndexExtract.Name) -> Void)? = nil
  ) {
    self.engine = engine
    self.context = context
    self.tail = tail
    self.extracts = extracts
    self.makeExtract = makeExtract
  }
}
