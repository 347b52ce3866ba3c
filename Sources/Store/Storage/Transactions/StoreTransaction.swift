import CloudKitModel
import SQLEngine
import StoreModel

/// One transaction of the store, for as long as it lives: what it has written so far, and what is to be written
/// before its commit.
///
/// It is made when a transaction begins and dropped when that ends. So nothing of one that was rolled back is
/// left for the next, and one that is run again begins with nothing. Where statements run by themselves, each
/// is a transaction of the engine, and this stands for all of them.
final class StoreTransaction {
  let connection: any SQLConnection
  let context: StoreContext
  /// See ``StoreConnection`` for what becomes of the caches when the transaction is rolled back.
  let catalog: Catalog
  let tail: NotificationTail?
  let searchCache: SearchCache?
  let fillSearchCache: (@Sendable (SearchCacheEntry.Name) -> Void)?
  /// What ``NotificationTail/wholeRuns`` was before a reader's transaction began; nil for a writer's.
  let wholeRuns: Int?
  /// What the transaction has locked; nil where nobody else writes.
  var locks: WriteLocks?
  /// Whether atomic requests are carried out without savepoints. One that fails throws
  /// ``SavepointNeeded``, and another transaction is begun with them.
  let goesWithoutSavepoints: Bool

  /// The changes written so far, in order.
  var outbox: [OutboxEntry] = []
  /// The servers that are to be woken up after the commit.
  var serversToWake: Set<ServerID> = []
  /// The bytes that the transaction has added and taken so far.
  var storedBytes = StoredBytes()
  /// What record modifications have left to be written before the commit.
  var gathered = GatheredWrites()
  /// The types that records were made of, for the ``SchemaCache``.
  var usedTypes: [SchemaCache.Update] = []
  /// What the transaction does with entries of the notification log that the index does not have.
  var tailChange = NotificationTail.Change()
  /// So many entries are to be filed before the commit, whether they have waited long or not.
  var filingRequest = 0
  /// Where the arguments of statements are put together that run for every record.
  var arguments = SQLArguments()

  /// A transaction that reads, or statements by themselves.
  ///
  /// - Parameter wholeRuns: of the ``NotificationTail``, from before a transaction that reads.
  init(over connection: StoreConnection, wholeRuns: Int? = nil) {
    self.connection = connection.engine
    context = connection.context
    catalog = connection.catalog
    tail = connection.tail
    searchCache = connection.searchCache
    fillSearchCache = connection.fillSearchCache
    self.wholeRuns = wholeRuns
    goesWithoutSavepoints = false
  }

  /// A transaction that writes.
  init(writingOver connection: StoreConnection, locks: WriteLocks, withoutSavepoints: Bool) {
    self.connection = connection.engine
    context = connection.context
    catalog = connection.catalog
    tail = connection.tail
    searchCache = nil
    fillSearchCache = nil
    wholeRuns = nil
    self.locks = connection.engine.isShared ? locks : nil
    goesWithoutSavepoints = withoutSavepoints
  }

  /// Makes what `body` does one transaction of the engine, where statements run by themselves.
  ///
  /// - Parameter begin: what the transaction begins with.
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

  /// What there was when a savepoint was set.
  struct Mark {
    fileprivate var outboxCount: Int
    fileprivate var storedBytes: StoredBytes
    fileprivate var gathered: GatheredWrites.Mark
    fileprivate var usedTypeCount: Int
    fileprivate var loggedCount: Int
  }

  var mark: Mark {
    Mark(
      outboxCount: outbox.count, storedBytes: storedBytes, gathered: gathered.mark,
      usedTypeCount: usedTypes.count, loggedCount: tailChange.added.count)
  }

  /// Drops what was done since a mark, after its savepoint was rolled back.
  func restore(_ mark: Mark) {
    outbox.removeSubrange(mark.outboxCount...)
    storedBytes = mark.storedBytes
    gathered.restore(mark.gathered)
    usedTypes.removeSubrange(mark.usedTypeCount...)
    tailChange.added.removeSubrange(mark.loggedCount...)
    catalog.empty()
  }
}
