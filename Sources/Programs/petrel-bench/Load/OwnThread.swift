import Foundation

/// Runs `work` on a new thread, and returns its result. Work that blocks must not run on the
/// threads of Swift concurrency.
func onThread<Value: Sendable>(
  _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread { continuation.resume(with: Result { try work() }) }.start()
  }
}
