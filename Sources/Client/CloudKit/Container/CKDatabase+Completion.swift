/// The methods that turn the results of an operation into one result, for the convenience methods.
extension CKDatabase {
  typealias Completion<Value> = (Result<Value, any Error>) -> Void

  /// Adds to the database an operation that a convenience method has created. Returns the same
  /// operation.
  ///
  /// The quality of service of the operation becomes `.userInitiated`, unless `configuredWith` has
  /// set another.
  func run<Operation: CKDatabaseOperation>(_ operation: Operation) -> Operation {
    let isConfigured = operationDefaults.values.qualityOfService != nil
    if !isConfigured { operation.qualityOfService = .userInitiated }
    add(operation)
    return operation
  }
}

/// The results of the items of one operation. The operation's blocks for single items add the
/// results; the block for the whole operation reads them.
///
/// The class is `@unchecked Sendable` because only the operation's callback queue, which is serial,
/// uses `results`.
final class ItemResults<ID: Hashable, Value>: @unchecked Sendable {
  private(set) var results: [ID: Result<Value, any Error>] = [:]

  /// Keeps the result of an item. A later result for the same item replaces the earlier one.
  func add(_ id: ID, _ result: Result<Value, any Error>) {
    results[id] = result
  }

  /// Returns the result of an operation's only item. If the item has no result, returns the error of
  /// the operation, or `internalError`.
  func single(_ whole: Result<Void, any Error>) -> Result<Value, any Error> {
    if let result = results.values.first { return result }
    return whole.flatMap {
      .failure(CKError(.internalError, "the operation ended without a result for its item"))
    }
  }

  /// Returns the results of all items. If the operation failed as a whole, returns the error of the
  /// operation.
  func all(_ whole: Result<Void, any Error>) -> Result<[ID: Result<Value, any Error>], any Error> {
    whole.map { results }
  }
}

extension CKOperation {
  /// Runs an operation, and suspends the task until the operation calls its completion. Returns the
  /// result that the completion gets. No thread is blocked.
  ///
  /// Cancelling the task cancels the operation.
  ///
  /// - Parameter start: creates and queues an operation that calls the given completion once, at
  ///   its end.
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
