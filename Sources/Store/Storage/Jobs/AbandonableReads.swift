/// Reads that are cancelled with their task.
///
/// By default a cancelled task does not cancel its reads, so that background work such as
/// dispatching finishes what it began. A request whose client has gone needs no answer.
public enum AbandonableReads {
  @TaskLocal static var areOn = false

  /// Runs `body`; if its task is cancelled, its reads throw `CancellationError`. Writes are carried
  /// out all the same: one transaction has the writes of several callers.
  public static func within<Value: Sendable>(
    _ body: () async throws -> Value
  ) async rethrows -> Value {
    try await $areOn.withValue(true, operation: body)
  }
}
