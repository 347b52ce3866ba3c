/// The option that a task's reads of the store are cancelled with the task.
///
/// By default they are not, so that background work such as dispatching can finish. The server sets
/// the option for requests: a request whose client has disconnected needs no answer. A store in
/// memory has no reading threads: its reads run in the transactions of the writing thread and are
/// never cancelled.
public enum AbandonableReads {
  /// Child tasks inherit the value.
  @TaskLocal static var areOn = false

  /// Runs `body` with the option. If the task is cancelled, reads in `body` throw
  /// `CancellationError`: a waiting read does not begin, and the engine interrupts a running one.
  /// Writes are never cancelled, because one transaction has the writes of several callers.
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
