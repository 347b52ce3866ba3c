import Dispatch
import Foundation
import SQLEngine

extension Store {
  /// Counters in memory: reading them neither waits for a thread nor runs a statement.
  ///
  /// Without reading threads, `waitingWrites` also counts waiting reads, and `waitingReads` is 0.
  /// Values that the store does not measure are 0 or nil.
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
    metrics.unfiledNotifications = tail?.count ?? 0
    metrics.searchCache = searchCache.counts
    return metrics
  }

  /// Returns the sizes of the store in bytes.
  ///
  /// - For a store in a file: the present sizes of the file and of its write-ahead log, and the
  ///   free bytes of the file system.
  /// - For PostgreSQL: the size of the tables at the last lookup (``TableSizes``); nil before the
  ///   first lookup ends, and after a failed one.
  /// - For a store in memory: nil.
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
      // A queue of its own, because a disk that hangs blocks the queue.
      DispatchQueue(label: "petrel.store.sizes").async {
        var sizes = StoreFileSizes()
        sizes.database = AssetFiles.size(of: path) ?? 0
        sizes.writeAheadLog = AssetFiles.size(of: path + "-wal") ?? 0
        var system = statvfs()
        if statvfs(path, &system) == 0 {
          sizes.free = Int(clamping: UInt64(system.f_bavail) &* UInt64(system.f_frsize))
        }
        continuation.resume(returning: sizes)
      }
    }
  }

  /// Checks that the store can write: commits a transaction that writes the present schema version
  /// again. It waits in the queue like other writes, and locks only that row.
  ///
  /// - Throws: ``StoreError`` if the store cannot write, for example ``StoreError/Code/overloaded``
  ///   if too many writes wait.
  public func checkWriting() async throws {
    try await transactions.write(locking: .rows) { transaction in
      try Migration.writeVersionAgain(over: transaction.connection)
    }
  }

  /// Checks that PostgreSQL can be reached, over a connection of its own, so the check waits for
  /// no other work. If it succeeds, lost connections may connect again at once.
  ///
  /// - Throws: ``StoreError/Code/unreachable`` if PostgreSQL does not answer within `patience`.
  public func checkReaching(within patience: Duration) async throws {
    guard let address else { return }
    try await Self.onThread { try ReachabilityProbe.ask(address, within: patience) }
    outage.end()
  }
}
