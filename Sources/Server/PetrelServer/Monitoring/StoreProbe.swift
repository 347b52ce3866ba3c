import Storage
import StoreModel
import Synchronization

/// A check whether the store can write. The check commits a transaction without effect, and callers
/// share the result of one transaction.
final class StoreProbe: Sendable {
  /// The state, which a `Mutex` protects.
  private struct State {
    /// The time of the last successful write; nil before the first.
    var succeeded: ContinuousClock.Instant?
    /// Whether a write is in progress.
    var isUnderWay = false
    /// The callers that wait for the write, by their numbers.
    var waiters: [Int: CheckedContinuation<String?, Never>] = [:]
    var nextWaiter = 0
  }

  private let store: Store
  /// The time for which the result of a successful write remains valid.
  private let validity: Duration
  /// The maximum time for which a caller waits for a write.
  private let patience: Duration
  private let state = Mutex(State())

  /// Creates a check.
  ///
  /// - Parameters:
  ///   - validity: the time for which a successful write counts.
  ///   - patience: the maximum time for which a caller waits for a write. After this time, the
  ///     caller gets a fault, and the write continues.
  init(
    store: Store, validity: Duration = .seconds(10), patience: Duration = .seconds(5)
  ) {
    self.store = store
    self.validity = validity
    self.patience = patience
  }

  /// Returns the fault that prevents writing; nil if the store can write.
  ///
  /// If the store reports no fault, and a write succeeded within ``validity``, the method returns
  /// nil at once. Otherwise it waits for a write: one in progress, or a new one.
  func trouble() async -> String? {
    let metrics = store.metrics
    if metrics.fault == nil, !metrics.readsFail, let succeeded = state.withLock({ $0.succeeded }),
      ContinuousClock.now - succeeded < validity
    {
      return nil
    }
    return await withCheckedContinuation { continuation in
      let (waiter, begins) = state.withLock { state in
        let waiter = state.nextWaiter
        state.nextWaiter += 1
        state.waiters[waiter] = continuation
        defer { state.isUnderWay = true }
        return (waiter, !state.isUnderWay)
      }
      if begins { Task { await probe() } }
      Task {
        // Nothing cancels this task, so the sleep does not throw.
        try? await Task.sleep(for: patience)
        let late = state.withLock { $0.waiters.removeValue(forKey: waiter) }
        late?.resume(returning: "a write was not durable within \(patience)")
      }
    }
  }

  /// Writes once and resumes all callers that wait.
  private func probe() async {
    var trouble: String?
    do {
      try await store.checkWriting()
    } catch {
      trouble = "writing fails: \(error)"
    }
    let waiters = state.withLock { state in
      state.isUnderWay = false
      if trouble == nil { state.succeeded = .now }
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume(returning: trouble) }
  }
}
