import StoreModel
import Synchronization

/// Finds out whether the store can write, for any number of those who ask, with one small write now and
/// then.
final class StoreProbe: Sendable {
  private struct State {
    /// When it was last seen that the store writes.
    var succeeded: ContinuousClock.Instant?
    var isUnderWay = false
    var waiters: [Int: CheckedContinuation<String?, Never>] = [:]
    var nextWaiter = 0
  }

  private let store: any StoreHealth
  /// How long what was seen counts.
  private let validity: Duration
  /// How long a write may take.
  private let patience: Duration
  private let state = Mutex(State())

  init(
    store: any StoreHealth, validity: Duration = .seconds(10), patience: Duration = .seconds(5)
  ) {
    self.store = store
    self.validity = validity
    self.patience = patience
  }

  /// What is wrong with writing; nil when all is well.
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
        // Nothing cancels this task.
        try? await Task.sleep(for: patience)
        let late = state.withLock { $0.waiters.removeValue(forKey: waiter) }
        late?.resume(returning: "a write was not durable within \(patience)")
      }
    }
  }

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
