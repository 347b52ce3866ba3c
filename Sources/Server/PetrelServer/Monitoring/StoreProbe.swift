import Concurrency
import Storage
import StoreModel
import Synchronization

/// A check of the store whose result its callers share: ``writing(to:validity:patience:)`` or
/// ``reaching(_:validity:patience:)``.
final class StoreProbe: Sendable {
  /// The state, which a `Mutex` protects.
  private struct State {
    /// The time of the last success; nil before the first.
    var succeeded: ContinuousClock.Instant?
    var isUnderWay = false
    /// The callers that wait for the check, by their numbers.
    var waiters: [Int: CheckedContinuation<String?, Never>] = [:]
    var nextWaiter = 0
  }

  let job: BackgroundJob
  private let check: @Sendable () async throws -> Void
  /// Returns whether a success in the past counts.
  private let isTrusted: @Sendable () -> Bool
  /// The beginning of the fault that a failure is.
  private let failure: String
  /// The beginning of the fault that a late result is.
  private let lateness: String
  private let validity: Duration
  private let patience: Duration
  private let state = Mutex(State())

  private init(
    _ name: String, validity: Duration, patience: Duration, failure: String, lateness: String,
    isTrusted: @escaping @Sendable () -> Bool, check: @escaping @Sendable () async throws -> Void
  ) {
    job = BackgroundJob(name, of: "PetrelServer", "when /health/ready is asked")
    self.check = check
    self.isTrusted = isTrusted
    self.failure = failure
    self.lateness = lateness
    self.validity = validity
    self.patience = patience
  }

  /// Returns the check whether the store can write. It commits a transaction without effect.
  ///
  /// - Parameters:
  ///   - validity: the time for which a success counts, unless the store reports a fault.
  ///   - patience: the maximum time for which a caller waits. After this time, the caller gets a
  ///     fault, and the check continues.
  static func writing(
    to store: Store, validity: Duration = .seconds(10), patience: Duration = .seconds(5)
  ) -> StoreProbe {
    StoreProbe(
      "write probe", validity: validity, patience: patience, failure: "writing fails",
      lateness: "a write was not durable",
      isTrusted: {
        let metrics = store.metrics
        return metrics.fault == nil && !metrics.readsFail
      },
      check: { try await store.checkWriting() })
  }

  /// Returns the check whether the store's database server can be reached.
  ///
  /// A server is thus not ready at most `validity` and `patience` after its network has failed.
  static func reaching(
    _ store: Store, validity: Duration = .seconds(1), patience: Duration = .seconds(1)
  ) -> StoreProbe {
    StoreProbe(
      "reach probe", validity: validity, patience: patience, failure: "the store cannot be reached",
      lateness: "the store did not answer", isTrusted: { true },
      check: { try await store.checkReaching(within: patience * 2) })
  }

  /// Returns the fault that the check finds; nil for none.
  ///
  /// If the last success still counts, the method returns nil at once. Otherwise it waits for a
  /// check: one in progress, or a new one.
  func trouble() async -> String? {
    if isTrusted(), let succeeded = state.withLock({ $0.succeeded }),
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
        late?.resume(returning: "\(lateness) within \(patience)")
      }
    }
  }

  /// Checks once and resumes all callers that wait.
  private func probe() async {
    var trouble: String?
    do {
      try await job.run(check)
    } catch {
      trouble = "\(failure): \(error)"
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
