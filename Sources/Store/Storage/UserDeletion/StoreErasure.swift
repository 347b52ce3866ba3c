import SQLEngine

/// The erasure of deleted data from a store in a file. SQLite overwrites deleted data
/// (`secure_delete`), and unused bytes of pages do not reach the file (`BTreePage`). So deleted
/// data remains only in the log.
///
/// PostgreSQL erases by itself: `VACUUM`, and the end of its archives of the write-ahead log.
extension Transactions {
  /// Copies the log into the file and truncates it, so that neither contains deleted data. It runs
  /// on the writer's thread, outside of a transaction.
  ///
  /// - Returns: false while a connection reads from the log; try again later.
  func eraseLog() async throws -> Bool {
    try await withCheckedThrowingContinuation { continuation in
      writer.queue.add(
        ContinuationJob(continuation, isOutsideTransactions: true) { try $0.connection.eraseLog() })
    }
  }
}
