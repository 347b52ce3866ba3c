import Foundation
import SQLEngine

/// Starts the threads of an open store. Each connection belongs to one thread. The names of the
/// threads are:
///
/// - `petrel.store.writer`, `petrel.store.writer.N`: the writing threads. A server on PostgreSQL
///   has ``StoreConfiguration/writers`` of them, and every other store has one. In a store without
///   reading threads, the writing thread also reads.
/// - `petrel.store.reader.N`: the reading threads. Their number is ``StoreConfiguration/readers``;
///   a store in memory has none.
/// - `petrel.store.cache`: the thread that fills the search cache, if the store is in a file and
///   has reading threads.
/// - `petrel.store.checkpoints`: the thread that copies the write-ahead log into the file of a
///   server.
/// - `petrel.store.inspection`: the thread that checks the pages of a server's file that were not
///   checked when the store was opened. The thread ends after the last page.
/// - `petrel.store.cluster`: the thread of cluster membership, on PostgreSQL: heartbeats and
///   leases.
/// - `petrel.store.limits`: the thread for the limits that servers count together. Only a server on
///   PostgreSQL has it.
extension Store {
  /// Starts the writing threads last. The first of them takes over `first`.
  func startThreads(_ opening: StoreOpening, first: sending any SQLConnection) throws {
    try startCluster(opening)
    try startReaders(opening)
    try startCheckpointer(opening)
    startInspection(opening)
    try startLimits(opening)
    try startWriters(opening, first: first)
  }

  private func startWriters(
    _ opening: StoreOpening, first: sending any SQLConnection
  ) throws {
    threads.start(
      named: "petrel.store.writer",
      over: StoreConnection(over: first, context, caches: StoreCaches(tail: tail))
    ) { [writer = transactions.writer] in writer.work(over: $0, thread: 0) }
    for number in 1..<opening.writerCount {
      threads.start(
        named: "petrel.store.writer.\(number)",
        over: StoreConnection(
          over: try opening.connect(), context, caches: StoreCaches(tail: tail))
      ) { [writer = transactions.writer] in writer.work(over: $0, thread: number) }
    }
  }

  private func startReaders(_ opening: StoreOpening) throws {
    guard opening.hasReaders else { return }
    let reader = StoreReader(queue: transactions.reads, tally: readTally)
    for number in 1...configuration.readers {
      threads.start(
        named: "petrel.store.reader.\(number)", over: try readingConnection(opening, tail: tail)
      ) { reader.work(over: $0) }
    }
    if opening.location.isShared { return }
    let maker = StoreReader(queue: fills)
    threads.start(named: "petrel.store.cache", over: try readingConnection(opening)) {
      maker.work(over: $0)
    }
  }

  /// - Parameter tail: nil also for the thread that fills the search cache, which does not read
  ///   the log.
  private func readingConnection(
    _ opening: StoreOpening, tail: NotificationTail? = nil
  ) throws -> sending StoreConnection {
    let engine = try opening.connect(isReader: true, locksRows: false)
    var caches = StoreCaches(tail: tail)
    // Other processes also write to a store on PostgreSQL, so its value index is not cached.
    if !opening.location.isShared {
      caches.searchCache = searchCache
      caches.fillSearchCache = { [searchCache, fills] in
        fills.add(SearchCacheFill(of: $0, for: searchCache))
      }
    }
    return StoreConnection(over: engine, context, caches: caches)
  }

  private func startCheckpointer(_ opening: StoreOpening) throws {
    guard let checkpointer else { return }
    threads.start(
      named: "petrel.store.checkpoints", over: StoreConnection(over: try opening.connect(), context)
    ) { checkpointer.work(over: $0.engine) }
  }

  private func startInspection(_ opening: StoreOpening) {
    guard let inspection = opening.inspection, let damage = opening.damage else { return }
    let pause = configuration.tuning.inspectionPause
    threads.start(named: "petrel.store.inspection") { [queue = transactions.writer.queue] in
      var inspection = inspection
      // If a page cannot be read, the error is ignored here. A request that needs the page reports
      // it.
      let found = try? inspection.checkRest(
        pausing: pause, unless: { queue.isOver || damage.reason != nil })
      if let found { damage.note("\(found): \(PageDamage.advice)") }
    }
  }

  /// Compares this machine's clock with PostgreSQL's before.
  private func startCluster(_ opening: StoreOpening) throws {
    guard let servers else { return }
    let engine = try opening.connect(isReader: true)
    try servers.clock.follow(engine)
    threads.start(named: "petrel.store.cluster", over: StoreConnection(over: engine, context)) {
      servers.work(over: $0)
    }
  }

  private func startLimits(_ opening: StoreOpening) throws {
    guard let limits else { return }
    // This connection has no object that records damage, because the other connections report it.
    let engine = try opening.location.connect(
      configuration.tuning, outage: opening.outage, locksRows: true, serves: false,
      checkpointPages: nil)
    threads.start(named: "petrel.store.limits", over: StoreConnection(over: engine, context)) {
      limits.work(over: $0)
    }
  }

  /// Only for a folder that several servers share.
  ///
  /// - Throws: ``StoreError`` if the folder belongs to another store.
  func bindAssets(over connection: any SQLConnection) throws {
    guard let folder = assets.files as? FileAssetStore, folder.use == .shared else { return }
    let connection = StoreConnection(over: connection, context)
    try folder.bind(to: StoreTransaction(over: connection))
  }
}
