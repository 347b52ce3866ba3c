import CloudKitModel
import SQLEngine
import StoreModel

/// One transaction of the store, with its unwritten changes.
///
/// The object is created when a transaction begins and released when the transaction ends. So a
/// rolled-back transaction leaves no state, and a repeated transaction begins with an empty object.
/// Jobs outside of transactions (``StoreJob/isOutsideTransactions``) also get an object. The engine
/// then runs each of their statements as a transaction by itself.
///
/// The types of tables contain all statements. Each is created with a transaction:
///
/// ```swift
/// let address = try DatabaseTable(transaction: transaction).address(of: database)
/// ```
///
/// Only the thread of its connection uses the object.
final class StoreTransaction {
  /// The engine's connection, on which the transaction is open.
  let connection: any SQLConnection
  /// The constants of the store.
  let context: StoreContext
  /// The connection's cache of addresses, zones and schemas.
  let catalog: Catalog
  /// The entries of the notification log that wait to be filed (added to the log's index by
  /// subscriber). It is nil if each entry is filed at once, and on the thread that fills the search
  /// cache.
  let tail: NotificationTail?
  /// The search cache; nil for a transaction that writes, and on PostgreSQL.
  let searchCache: SearchCache?
  /// The function that asks another thread to make an entry of the search cache; nil if
  /// ``searchCache`` is nil.
  let fillSearchCache: (@Sendable (SearchCacheEntry.Name) -> Void)?
  /// The value of ``NotificationTail/wholeRuns`` before a reading transaction began; nil for a
  /// writing transaction, and without a tail.
  let wholeRuns: Int?
  /// The transaction's locks; nil for a reading transaction, and on a store that is not shared.
  var locks: WriteLocks?
  /// The gate that statements pass: those that name a table of ``writes`` find what was decided.
  let gate: StatementGate
  /// Whether ``mark(_:)`` sets savepoints.
  let setsSavepoints: Bool
  /// Whether the transaction writes. Others keep no rows in ``writes``.
  let isWriting: Bool

  /// The address that `DatabaseID.vacant` has during a read; nil outside of a read of a database
  /// that does not exist.
  var vacancy: DatabaseAddress?

  /// The changes that the transaction has written to the outbox so far, in order. The writer passes
  /// them to the commit handler after the commit.
  var outbox: [OutboxEntry] = []
  /// The servers to wake up after the commit.
  var serversToWake: Set<ServerID> = []
  /// The data that the transaction has read in advance.
  var reads = ReadSet()
  /// The rows that the transaction has decided on and not written.
  var writes = WriteSet()
  /// The record types of the records that the transaction has created, for the ``SchemaCache``.
  var usedTypes: [SchemaCache.Update] = []
  /// The transaction's changes to the tail of the notification log.
  var tailChange = NotificationTail.Change()
  /// The number of log entries to file before the commit, even if fewer than
  /// ``NotificationTail/capacity`` wait; 0 for no request.
  var filingRequest = 0

  /// Creates the object of a reading transaction, or of statements outside of transactions. The
  /// initializer does not begin a transaction of the engine.
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
    gate = connection.gate
    setsSavepoints = false
    isWriting = false
  }

  /// Creates the object of a writing transaction. The engine's transaction has begun, and has these
  /// locks.
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
    setsSavepoints = withSavepoints
    isWriting = true
    gate.rows = StatementGate.Rows(
      of: self, unwritten: { [unowned self] in writes.unwritten },
      write: { [unowned self] in try write($0) },
      forget: { [unowned self] tables in
        writes.forget(tables)
        reads.forget(tables)
      })
  }

  deinit {
    guard gate.rows?.owner == ObjectIdentifier(self) else { return }
    gate.rows = nil
    gate.beforeStatement = nil
  }

  /// Runs `body` as one transaction of the engine, in a job outside of transactions. If `body` or
  /// the commit throws, the transaction is rolled back.
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
}
