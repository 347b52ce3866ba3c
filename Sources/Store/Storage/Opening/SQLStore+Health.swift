import Dispatch
import Foundation
import StoreModel

extension SQLStore: StoreHealth {
  /// The store's metrics, gathered from counters in memory. Reading them neither waits nor queries
  /// the engine.
  ///
  /// The read counts are 0 for a store without readers: there the writer's queue has the reads. The
  /// values of parts that the store does not have are 0.
  public var metrics: StoreMetrics {
    var metrics = transactions.writer.tally.metrics
    if let damage { metrics.fault = damage }
    metrics.foundDamage = serverDamage?.reason
    metrics.waitingWrites = transactions.writer.queue.count
    metrics.waitingReads =
      transactions.reads === transactions.writer.queue ? 0 : transactions.reads.count
    metrics.abandonedReads = readTally.abandoned
    metrics.readsFail = readTally.foundNoStore
    (metrics.checkpoints, metrics.failedCheckpoints) = checkpointer?.passCounts ?? (0, 0)
    metrics.unfiledNotifications = unfiledNotificationCount
    metrics.searchCache = searchCacheCounts
    return metrics
  }

  /// Returns the sizes of the store in bytes.
  ///
  /// - A file: the sizes of the file and of its log, and the free bytes of its file system. Each
  ///   call asks the kernel.
  /// - PostgreSQL: the size of the tables, as of the last lookup (``TableSizes``). It is nil until
  ///   the first lookup has succeeded.
  /// - Memory: nil.
  public func fileSizes() async -> StoreFileSizes? {
    if let tableSizes {
      return tableSizes.current {
        try await self.transactions.read {
          try TableSizes.look(over: $0.connection, isDistributed: $0.context.isDistributed)
        }
      }
    }
    guard let path else { return nil }
    return await withCheckedContinuation { continuation in
      // A separate queue, since a disk that hangs would block it.
      DispatchQueue(label: "petrel.store.sizes").async {
        var sizes = StoreFileSizes()
        sizes.database = Self.size(of: path)
        sizes.writeAheadLog = Self.size(of: path + "-wal")
        var system = statvfs()
        if statvfs(path, &system) == 0 {
          sizes.free = Int(clamping: UInt64(system.f_bavail) &* UInt64(system.f_frsize))
        }
        continuation.resume(returning: sizes)
      }
    }
  }

  /// Commits a transaction that writes the schema version again, which changes nothing.
  ///
  /// The write waits in the queue like any other. It takes no lock besides the row's.
  ///
  /// - Throws: ``StoreError`` if the store cannot write, ``StoreError/Code/overloaded`` if too many
  ///   writes wait.
  public func checkWriting() async throws {
    try await transactions.write(locking: .rows) { transaction in
      try Migration.writeVersionAgain(over: transaction.connection)
    }
  }

  /// Returns the size of a file in bytes; 0 if there is none.
  private static func size(of path: String) -> Int {
    var information = stat()
    return stat(path, &information) == 0 ? Int(information.st_size) : 0
  }
}
