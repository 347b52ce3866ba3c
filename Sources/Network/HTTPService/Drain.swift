import Dispatch
import Synchronization

/// The wait of a stopping server until its requests have ended.
final class Drain: Sendable {
  /// The present wait: its condition and the task to continue.
  private struct Waiter {
    var isIdle: @Sendable () -> Bool
    var continuation: CheckedContinuation<Void, Never>
  }

  private let begun = Atomic(false)
  private let waiter = Mutex<Waiter?>(nil)
  private let queue = DispatchQueue(label: "petrel-drain")
  var isBegun: Bool { begun.load(ordering: .sequentiallyConsistent) }

  func begin() { begun.store(true, ordering: .sequentiallyConsistent) }

  /// Waits until `isIdle` returns `true` or `limit` has passed. ``checkIdle()`` evaluates the
  /// condition. There can be one wait at a time.
  func waitUntilIdle(
    within limit: Duration, isIdle: @escaping @Sendable () -> Bool
  ) async {
    let (seconds, attoseconds) = limit.components
    let deadline: DispatchTime =
      seconds > 1_000_000_000
      ? .distantFuture
      : .now() + .nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    let timer = DispatchSource.makeTimerSource(queue: queue)
    await withCheckedContinuation { continuation in
      waiter.withLock { $0 = Waiter(isIdle: isIdle, continuation: continuation) }
      timer.schedule(deadline: deadline)
      timer.setEventHandler { [self] in
        waiter.withLock { waiter in
          defer { waiter = nil }
          return waiter
        }?.continuation.resume()
      }
      timer.resume()
      checkIdle()
    }
    timer.cancel()
  }

  /// Ends the wait if its condition holds. Call it when something has ended after ``begin()``.
  func checkIdle() {
    guard isBegun else { return }
    let idle = waiter.withLock { waiter -> Waiter? in
      guard let current = waiter, current.isIdle() else { return nil }
      waiter = nil
      return current
    }
    idle?.continuation.resume()
  }
}
