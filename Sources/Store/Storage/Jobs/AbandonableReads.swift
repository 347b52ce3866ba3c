/// Reads that end with the task that asks for them.
///
/// Work that finishes what it has begun, such as dispatching, does not notice that its task was
/// cancelled; a request whose client has gone need not know the answer any more.
public enum AbandonableReads {
  @TaskLocal static var areOn = false

  /// Does something of which the reads are given up when its task is cancelled: they throw
  /// `CancellationError` then. Writes are carried out: one transaction has those of several callers, and
  /// who has gone without an answer may have been heard all the same.
  public static func within<Value: Sendable>(
    _ body: () async throws -> Value
  ) async rethrows -> Value {
    try await $areOn.withValue(true, operation: body)
  }
}
