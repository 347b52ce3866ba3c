import Foundation
import SQLEngine
import StoreModel

/// Starts the threads of an open store. A connection belongs to one thread.
///
/// - `petrel.store.writer`, `petrel.store.writer.N`: the writers. There is one, or
///   ``StoreConfiguration/writers`` for a server on PostgreSQL. Without readers, they also read.
/// - `petrel.store.reader.N`: the readers, ``StoreConfiguration/readers`` in number; none for a
///   store in memory.
/// - `petrel.store.cache`: fills the search cache, if the store is in a file and has readers.
/// - `petrel.store.checkpoints`: copies the log into a server's file.
/// - `petrel.store.inspection`: checks the pages of a server's file that were not checked before.
///   It ends when that is done.
/// - `petrel.store.cluster`: heartbeat and leases, on PostgreSQL.
/// - `petrel.store.limits`: limits that servers count together, for a server on PostgreSQL.
extension SQLStore {
  /// Starts all threads. The writers start last, because they take the first connection.
  ///
  /// - Parameter first: the connection over which the store was opened; the first writer takes it.
  /// - Throws: ``StoreError`` if one of the connections cannot be opened.
  func startThreads(_ opening: StoreOpening, first: sending any SQLConnection) throws {
    try startCluster(opening)
    try startReaders(opening)
    try startCheckpointer(opening)
    startInspection(opening)
    try startLimits(opening)
    try startWriters(opening, first: first)
  }

  /// Starts the writing threads, numbered from 0. The first one uses the connection over which the
  /// store was opened.
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

  /// Starts the reading threads, and the thread that fills the search cache. A store in memory has
  /// neither.
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

  /// Opens a connection that only reads, with the caches of readers.
  ///
  /// - Parameter tail: the unfiled log entries; nil for the thread that fills the search cache,
  ///   which reads no log.
  private func readingConnection(
    _ opening: StoreOpening, tail: NotificationTail? = nil
  ) throws -> sending StoreConnection {
    let engine = try opening.connect(isReader: true, locksRows: false)
    var caches = StoreCaches(tail: tail)
    // Other processes also write to a shared store, so its index is not cached.
    if !opening.location.isShared {
      caches.searchCache = searchCache
      caches.fillSearchCache = { [searchCache, fills] in
        fills.add(SearchCacheFill(of: $0, for: searchCache))
      }
    }
    return StoreConnection(over: engine, context, caches: caches)
  }

  /// Starts the thread that copies the write-ahead log into the file of a server.
  private func startCheckpointer(_ opening: StoreOpening) throws {
    guard let checkpointer else { return }
    threads.start(
      named: "petrel.store.checkpoints", over: StoreConnection(over: try opening.connect(), context)
    ) { checkpointer.work(over: $0.engine) }
  }

  /// Starts the thread that checks the rest of the store's file while the store is served.
  ///
  /// The thread pauses between its reads (`StoreConfiguration.Tuning.inspectionPause`). It ends
  /// when the store is closed or damage is found.
  private func startInspection(_ opening: StoreOpening) {
    guard let inspection = opening.inspection, let damage = opening.damage else { return }
    let pause = configuration.tuning.inspectionPause
    threads.start(named: "petrel.store.inspection") { [queue = transactions.writer.queue] in
      var inspection = inspection
      // An unreadable page is found by the reads that need it.
      let found = try? inspection.checkRest(
        pausing: pause, unless: { queue.isOver || damage.reason != nil })
      if let found { damage.note("\(found): \(PageDamage.advice)") }
    }
  }

  /// Starts the thread of cluster membership, after a first comparison of the clocks.
  private func startCluster(_ opening: StoreOpening) throws {
    guard let cluster else { return }
    let engine = try opening.connect(isReader: true)
    try cluster.clock.follow(engine)
    threads.start(named: "petrel.store.cluster", over: StoreConnection(over: engine, context)) {
      cluster.work(over: $0)
    }
  }

  /// Starts the thread of the limits that servers count together.
  private func startLimits(_ opening: StoreOpening) throws {
    guard let limits else { return }
    // Other connections report the damage that PostgreSQL finds.
    let engine = try opening.location.connect(
      configuration.tuning, locksRows: true, serves: false, checkpointPages: nil)
    threads.start(named: "petrel.store.limits", over: StoreConnection(over: engine, context)) {
      limits.work(over: $0)
    }
  }

  /// Checks that a shared folder of assets is this store's. Other asset stores need no check.
  ///
  /// - Throws: ``StoreError`` if the folder belongs to another store.
  func bindAssets(over connection: any SQLConnection) throws {
    guard let folder = assets.files as? FileAssetStore, folder.use == .shared else { return }
    let connection = StoreConnection(over: connection, context)
    try folder.bind(to: StoreTransaction(over: connection))
  }
}
