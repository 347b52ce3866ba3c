/// The conversion of an operation into one result, for the convenience methods.
extension CKDatabase {
  /// The type of a handler that gets the result of a convenience method.
  typealias Completion<Value> = (Result<Value, any Error>) -> Void

  /// Adds an operation of a convenience method to the database.
  ///
  /// The operation has the quality of service `.userInitiated`, unless `configuredWith` has set
  /// another.
  func run<Operation: CKDatabaseOperation>(_ operation: Operation) -> Operation {
    let isConfigured = operationDefaults.values.qualityOfService != nil
    if !isConfigured { operation.qualityOfService = .userInitiated }
    add(operation)
    return operation
  }
}

/// The results of single items, collected from an operation's blocks for one completion.
///
/// The class is `@unchecked Sendable` because only the operation's callback queue, which is serial,
/// uses `results`.
final class ItemResults<ID: Hashable, Value>: @unchecked Sendable {
  // Only the operation's callback queue uses this variable.
  private(set) var results: [ID: Result<Value, any Error>] = [:]

  /// Keeps the result of an item. A later result for the same item replaces the earlier one.
  func add(_ id: ID, _ result: Result<Value, any Error>) {
    results[id] = result
  }

  /// Returns the result of the only item of an operation; the operation's own error when it failed
  /// as a whole.
  func single(_ whole: Result<Void, any Error>) -> Result<Value, any Error> {
    whole.flatMap {
      results.values.first
        ?? .failure(CKError(.internalError, "the operation ended without a result for its item"))
    }
  }

  /// Returns the results of all items; the operation's own error when it failed as a whole.
  func all(_ whole: Result<Void, any Error>) -> Result<[ID: Result<Value, any Error>], any Error> {
    whole.map { results }
  }
}

extension CKOperation {
  /// Suspends the task until the operation's completion is called, and returns its result. No
  /// thread is blocked.
  ///
  /// Cancelling the task cancels the operation.
  ///
  /// - Parameter start: creates and queues the operation with the completion that it gets.
  /// - Throws: the error that the completion gets.
  static func result<Value: Sendable>(
    _ start: (@escaping (Result<Value, any Error>) -> Void) -> CKOperation
  ) async throws -> Value {
    let operation = Locked<CKOperation?>(nil)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let started = start { continuation.resume(with: $0) }
        operation.withLock { $0 = started }
        // The task may have been cancelled before the operation existed. Then `onCancel` had
        // nothing to cancel.
        if Task.isCancelled { started.cancel() }
      }
    } onCancel: {
      operation.withLock { $0 }?.cancel()
    }
  }
}
