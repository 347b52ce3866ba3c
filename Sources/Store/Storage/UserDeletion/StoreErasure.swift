import SQLEngine

/// Erasing of what was deleted, for a store in a file: SQLite leaves the bytes of what was deleted or
/// overwritten in free pages, in the free bytes of pages, and in the log, until something else takes their
/// place. `PRAGMA secure_delete` overwrites what is deleted, and leaves the copies that pages keep when
/// rows move between them: with it alone `ErasureTests` fails.
///
/// A store in PostgreSQL leaves that to its server: `VACUUM`, and the end of its archives of the
/// write-ahead log.
extension SQLRecordStore {
  /// Leaves nothing in the file but what is in the store. Writes wait meanwhile, reads do not.
  ///
  /// - Complexity: O(size of the file); docs/operating.md has a measured time.
  func eraseFreePages() async throws {
    try await outsideTransactions { try $0.connection.eraseFreePages() }
  }

  /// Leaves nothing in the write-ahead log; false while somebody reads from it.
  func eraseLog() async throws -> Bool {
    try await outsideTransactions {
      try $0.connection.eraseLog()
    }
  }

  private func outsideTransactions<Value: Sendable>(
    _ body: @escaping @Sendable (StoreSession) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      writer.queue.add(ContinuationJob(continuation, isOutsideTransactions: true, body))
    }
  }
}
