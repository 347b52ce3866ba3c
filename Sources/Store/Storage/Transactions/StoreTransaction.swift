import CloudKitModel
import SQLEngine
import StoreModel

/// One transaction of the store, with its unwritten changes.
///
/// The object is created when a transaction begins and dropped when the transaction ends. So a
/// rolled-back transaction leaves nothing behind, and a repeated one begins empty. Where statements
/// run by themselves, each is a transaction of the engine, and this object stands for all of them.
///
/// Table types take the transaction, and have all statements:
///
/// ```swift
/// let address = try DatabaseTable(transaction: transaction).address(of: database)
/// ```
///
/// One thread uses it, the thread of its connection.
final class StoreTransaction {
  /// The engine's connection, on which the transaction is open.
  let connection: any SQLConnection
  /// The constants of the store.
  let context: StoreContext
  /// The connection's cache of addresses, zones and schemas. ``StoreCaches`` says what a rollback
  /// does to it.
  let catalog: Catalog
  /// The log entries that wait to be filed; nil if each is filed at once, and for the thread that
  /// fills the search cache.
  let tail: NotificationTail?
  /// The search cache; nil for a transaction that writes, and on PostgreSQL.
  let searchCache: SearchCache?
  /// The request for an entry of the search cache; nil where ``searchCache`` is.
  let fillSearchCache: (@Sendable (SearchCacheEntry.Name) -> Void)?
  /// The value of ``NotificationTail/wholeRuns`` before a reader's transaction began; nil for a
  /// writer's.
  let wholeRuns: Int?
  /// The transaction's locks; nil for a reading transaction, and on a store that is not shared.
  var locks: WriteLocks?
  /// Whether atomic requests run without savepoints. If one fails, it throws ``SavepointNeeded``,
  /// and the transaction is repeated with savepoints.
  let omitsSavepoints: Bool

  /// The changes written so far, in order. The writer gives them to the commit handler after the
  /// commit.
  var outbox: [OutboxEntry] = []
  /// The servers to wake up after the commit.
  var serversToWake: Set<ServerID> = []
  /// The bytes that the transaction has added and removed so far.
  var storedBytes = StoredBytes()
  /// The writes of record modifications that remain to be written before the commit.
  var gathered = GatheredWrites()
  /// The types of created records, for the ``SchemaCache``.
  var usedTypes: [SchemaCache.Update] = []
  /// The transaction's changes to the tail of the notification log.
  var tailChange = NotificationTail.Change()
  /// The number of entries to file before the commit, even if few are waiting.
  var filingRequest = 0
  /// The memory for the arguments of statements that run for every record.
  var arguments = SQLArguments()

  /// Creates a transaction that reads, or one for statements by themselves. It does not begin a
  /// transaction of the engine.
  ///
  /// - Parameter wholeRuns: the value of ``NotificationTail/wholeRuns`` before a reading
  ///   transaction; nil for other uses.
  init(over connection: StoreConnection, wholeRuns: Int? = nil) {
    self.connection = connection.engine
    context = connection.context
    catalog = connection.caches.catalog
    tail = connection.caches.tail
    searchCache = connection.caches.searchCache
    fillSearchCache = connection.caches.fillSearchCache
    self.wholeRuns = wholeRuns
    omitsSavepoints = false
  }

  /// Creates a transaction that writes. The engine's transaction has begun, and has these locks.
  init(writingOver connection: StoreConnection, locks: WriteLocks, withoutSavepoints: Bool) {
    self.connection = connection.engine
    context = connection.context
    catalog = connection.caches.catalog
    tail = connection.caches.tail
    searchCache = nil
    fillSearchCache = nil
    wholeRuns = nil
    self.locks = connection.engine.isShared ? locks : nil
    omitsSavepoints = withoutSavepoints
  }

  /// Runs `body` as one transaction of the engine, where statements would otherwise run by
  /// themselves. If `body` or the commit throws, the transaction is rolled back.
  ///
  /// - Parameter begin: the statement that begins the transaction.
  func committing<Value>(
    beginning begin: String = "BEGIN", _ body: () throws -> Value
  ) throws -> Value {
    try connection.execute(begin)
    do {
      let value = try body()
      try connection.commit()
      return value
    } catch {
      connection.giveUpTransaction()
      throw error
    }
  }

  // MARK: Savepoints

  /// The state when a savepoint was set.
  struct Mark {
    fileprivate var outboxCount: Int
    fileprivate var storedBytes: StoredBytes
    fileprivate var gathered: GatheredWrites.Mark
    fileprivate var usedTypeCount: Int
    fileprivate var loggedCount: Int
  }

  /// The present state, for ``restore(_:)`` after a rollback to a savepoint.
  var mark: Mark {
    Mark(
      outboxCount: outbox.count, storedBytes: storedBytes, gathered: gathered.mark,
      usedTypeCount: usedTypes.count, loggedCount: tailChange.added.count)
  }

  /// Drops the changes since a mark, after its savepoint was rolled back. It also empties the
  /// catalog, which may have rows that were rolled back.
  func restore(_ mark: Mark) {
    outbox.removeSubrange(mark.outboxCount...)
    storedBytes = mark.storedBytes
    gathered.restore(mark.gathered)
    usedTypes.removeSubrange(mark.usedTypeCount...)
    tailChange.added.removeSubrange(mark.loggedCount...)
    catalog.empty()
  }
}
