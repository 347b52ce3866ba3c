import Foundation
import SQLEngine
import StoreModel

/// The threads of an open store. A connection belongs to one thread.
extension SQLStore {
  /// - Parameter first: the connection over which the store was opened; the first writer takes it.
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

  private func startCheckpointer(_ opening: StoreOpening) throws {
    guard let checkpointer else { return }
    threads.start(
      named: "petrel.store.checkpoints", over: StoreConnection(over: try opening.connect(), context)
    ) { checkpointer.work(over: $0.engine) }
  }

  /// Checks the rest of the store's file while the store is served.
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

  private func startCluster(_ opening: StoreOpening) throws {
    guard let cluster else { return }
    let engine = try opening.connect(isReader: true)
    try cluster.clock.follow(engine)
    threads.start(named: "petrel.store.cluster", over: StoreConnection(over: engine, context)) {
      cluster.work(over: $0)
    }
  }

  private func startLimits(_ opening: StoreOpening) throws {
    guard let limits else { return }
    // Other connections report the damage that PostgreSQL finds.
    let engine = try opening.location.connect(
      configuration.tuning, locksRows: true, serves: false, checkpointPages: nil)
    threads.start(named: "petrel.store.limits", over: StoreConnection(over: engine, context)) {
      limits.work(over: $0)
    }
  }

  /// Checks that a shared folder of assets is this store's.
  func bindAssets(over connection: any SQLConnection) throws {
    guard let folder = assets.files as? FileAssetStore, folder.use == .shared else { return }
    let connection = StoreConnection(over: connection, context)
    try folder.bind(to: StoreTransaction(over: connection))
  }
}
