import SQLEngine

/// The erasure of deleted data from a store in a file. SQLite overwrites deleted data
/// (`secure_delete`), and the unused bytes of a page are cleared before the page is written
/// (`BTreePage`). So deleted data remains only in the write-ahead log.
///
/// PostgreSQL needs no such step: `VACUUM` removes the deleted rows. Archives of its write-ahead
/// log keep the rows until the archives expire.
extension Transactions {
  /// Copies and truncates the log, on the writer's thread, outside of a transaction. Returns false
  /// while a connection reads from the log; try again later.
  func eraseLog() async throws -> Bool {
    try await withCheckedThrowingContinuation { continuation in
      writer.queue.add(
        ContinuationJob(continuation, isOutsideTransactions: true) { try $0.connection.eraseLog() })
    }
  }
}
