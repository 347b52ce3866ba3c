/// Reads that are cancelled with their task.
///
/// By default a cancelled task does not cancel its reads, so that background work such as
/// dispatching finishes what it began. A request whose client has gone needs no answer.
///
/// A store in memory has no readers: there a read shares the writer's transaction and is never
/// cancelled.
public enum AbandonableReads {
  /// Whether reads of the current task are cancelled with it. Child tasks inherit the value.
  @TaskLocal static var areOn = false

  /// Runs `body`; if its task is cancelled, its reads throw `CancellationError`. Writes are carried
  /// out all the same: one transaction has the writes of several callers.
  ///
  /// A read that still waits never begins. A read that runs is interrupted in the engine.
  ///
  /// ```swift
  /// let answer = try await AbandonableReads.within { try await endpoint.respond(to: request) }
  /// ```
  public static func within<Value: Sendable>(
    _ body: () async throws -> Value
  ) async rethrows -> Value {
    try await $areOn.withValue(true, operation: body)
  }
}
