/// How the convenience methods turn an operation into one result.
extension CKDatabase {
  typealias Completion<Value> = (Result<Value, any Error>) -> Void

  /// Queues an operation for a convenience method.
  func run<Operation: CKDatabaseOperation>(_ operation: Operation) -> Operation {
    let isConfigured = operationDefaults.values.qualityOfService != nil
    if !isConfigured { operation.qualityOfService = .userInitiated }
    add(operation)
    return operation
  }
}

/// Collects the results of single items, as they come, for one completion.
final class ItemResults<ID: Hashable, Value>: @unchecked Sendable {
  // Only used on the operation's callback queue.
  private(set) var results: [ID: Result<Value, any Error>] = [:]

  func add(_ id: ID, _ result: Result<Value, any Error>) {
    results[id] = result
  }

  /// The result of the only item of an operation.
  func single(_ whole: Result<Void, any Error>) -> Result<Value, any Error> {
    whole.flatMap {
      results.values.first
        ?? .failure(CKError(.internalError, "the operation gave no result for its item"))
    }
  }

  func all(_ whole: Result<Void, any Error>) -> Result<[ID: Result<Value, any Error>], any Error> {
    whole.map { results }
  }
}

extension CKOperation {
  /// Waits for what an operation's completion gets, without a thread. Cancelling the task cancels
  /// the operation.
  ///
  /// - Parameter start: starts the operation.
  static func result<Value: Sendable>(
    _ start: (@escaping (Result<Value, any Error>) -> Void) -> CKOperation
  ) async throws -> Value {
    let operation = Locked<CKOperation?>(nil)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let started = start { continuation.resume(with: $0) }
        operation.withLock { $0 = started }
        // The task may have been cancelled before there was an operation to cancel.
        if Task.isCancelled { started.cancel() }
      }
    } onCancel: {
      operation.withLock { $0 }?.cancel()
    }
  }
}
