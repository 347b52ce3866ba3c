import SQLEngine

/// Erases deleted data from a store in a file. SQLite overwrites what it deletes (`secure_delete`),
/// and unused bytes of pages do not reach the file (`BTreePage`), so deleted data remains only in
/// the log.
///
/// PostgreSQL erases by itself: `VACUUM`, and the end of its archives of the write-ahead log.
extension Transactions {
  /// Erases deleted data from the file and its log; false while a connection reads from the log.
  func eraseLog() async throws -> Bool {
    try await withCheckedThrowingContinuation { continuation in
      writer.queue.add(
        ContinuationJob(continuation, isOutsideTransactions: true) { try $0.connection.eraseLog() })
    }
  }
}
