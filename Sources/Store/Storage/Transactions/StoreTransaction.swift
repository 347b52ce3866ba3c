import CloudKitModel
import SQLEngine
import StoreModel

/// One transaction of the store, with its unwritten changes.
///
/// The object lives as long as the transaction, so a rolled-back transaction leaves no state. Jobs
/// outside of transactions (``StoreJob/isOutsideTransactions``) also get one; the engine then runs
/// each of their statements as a transaction by itself.
///
/// Types of tables contain all statements, and are created with a transaction:
///
/// ```swift
/// let address = try DatabaseTable(transaction: transaction).address(of: database)
/// ```
///
/// Only the thread of its connection uses the object.
final class StoreTransaction {
  let connection: any SQLConnection
  let context: StoreContext
  /// The connection's, until a statement changes one of its tables.
  private(set) var catalog: Catalog
  /// nil if each entry is filed at once, and on the thread that fills the search cache.
  let tail: NotificationTail?
  let searchCache: SearchCache?
  let fillSearchCache: (@Sendable (SearchCacheEntry.Name) -> Void)?
  /// ``NotificationTail/wholeRuns`` before a reading transaction began.
  let wholeRuns: Int?
  /// The locks; nil for a reading transaction, and on a store that is not shared.
  var locks: WriteLocks?
  let gate: StatementGate
  let setsSavepoints: Bool
  /// Other transactions keep no rows in ``writes``.
  let isWriting: Bool

  /// The address of `DatabaseID.vacant` during a read of a database that does not exist.
  var vacancy: DatabaseAddress?

  /// The changes in order, for the commit handler after the commit.
  var outbox: [OutboxEntry] = []
  var serversToWake: Set<ServerID> = []
  var reads = ReadSet()
  var writes = WriteSet()
  /// nil if they were not read since.
  var changedListeners: [DatabaseID: Catalog.Listeners?] = [:]
  private var hasOwnCatalog = false
  private let cachedTables: StatementGate.Tables
  var usedTypes: [SchemaCache.Update] = []
  var tailChange = NotificationTail.Change()
  /// Even if fewer than ``NotificationTail/capacity`` wait.
  var filingRequest = 0

  /// For a reading transaction, or for statements outside of transactions. Does not begin a
  /// transaction of the engine.
  init(over connection: StoreConnection, wholeRuns: Int? = nil) {
    self.connection = connection.engine
    context = connection.context
    catalog = connection.caches.catalog
    tail = connection.caches.tail
    searchCache = connection.caches.searchCache
    fillSearchCache = connection.caches.fillSearchCache
    self.wholeRuns = wholeRuns
    gate = connection.gate
    cachedTables = connection.cachedTables
    setsSavepoints = false
    isWriting = false
  }

  /// The engine's transaction has begun, and has these locks.
  init(writingOver connection: StoreConnection, locks: WriteLocks, withSavepoints: Bool) {
    self.connection = connection.engine
    context = connection.context
    catalog = connection.caches.catalog
    tail = connection.caches.tail
    searchCache = nil
    fillSearchCache = nil
    wholeRuns = nil
    self.locks = connection.engine.isShared ? locks : nil
    gate = connection.gate
    cachedTables = connection.cachedTables
    setsSavepoints = withSavepoints
    isWriting = true
    gate.rows = StatementGate.Rows(
      of: self, unwritten: { [unowned self] in writes.unwritten | writes.decidedTables },
      decided: { [unowned self] in writes.decidedTables },
      write: { [unowned self] in try write($0) }, forget: { [unowned self] in change($0) })
  }

  func change(_ tables: StatementGate.Tables) {
    writes.forget(tables)
    reads.forget(tables)
    guard tables & cachedTables != 0, !hasOwnCatalog else { return }
    hasOwnCatalog = true
    catalog = Catalog(of: catalog)
  }

  /// Empties the transaction's own catalog, whose data may have been dropped. Without a version, no
  /// schema is added to the ``SchemaCache``.
  func forgetOwnCatalog() {
    if hasOwnCatalog { catalog = Catalog() }
  }

  deinit {
    guard gate.rows?.owner == ObjectIdentifier(self) else { return }
    gate.rows = nil
    gate.beforeStatement = nil
  }

  /// For a job outside of transactions.
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
}
