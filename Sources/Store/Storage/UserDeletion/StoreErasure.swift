import SQLEngine

/// Erasing of what was deleted, for a store in a file. SQLite overwrites what it deletes
/// (`secure_delete`), and what it leaves in pages does not come into the file (`BTreePage`); so it stands in
/// the log alone.
///
/// A store in PostgreSQL leaves that to its server: `VACUUM`, and the end of its archives of the
/// write-ahead log.
extension Transactions {
  /// Leaves nothing of what was deleted in the file or in its log; false while somebody reads from the log.
  func eraseLog() async throws -> Bool {
    try await withCheckedThrowingContinuation { continuation in
      writer.queue.add(
        ContinuationJob(continuation, isOutsideTransactions: true) { try $0.connection.eraseLog() })
    }
  }
}
