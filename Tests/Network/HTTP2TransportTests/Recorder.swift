import Foundation
import Synchronization

/// Gathers what callbacks report on any thread, and lets a test wait for it.
final class Recorder<Element: Sendable>: Sendable {
  struct TimedOut: Error {
    var recorded: [Element]
  }

  private struct State {
    var elements: [Element] = []
    var waiters: [Int: (isSatisfied: @Sendable ([Element]) -> Bool, wake: @Sendable () -> Void)] =
      [:]
    var nextWaiter = 0
  }

  private let state = Mutex(State())

  var elements: [Element] { state.withLock(\.elements) }

  func record(_ element: Element) {
    let wakes = state.withLock { state in
      state.elements.append(element)
      let satisfied = state.waiters.filter { $0.value.isSatisfied(state.elements) }
      for key in satisfied.keys { state.waiters[key] = nil }
      return satisfied.values.map(\.wake)
    }
    for wake in wakes { wake() }
  }

  /// Lets go of what was recorded, which may hold on to what records.
  func forget() {
    state.withLock { $0.elements = [] }
  }

  /// Waits until the condition holds and returns what was recorded by then.
  @discardableResult
  func wait(
    seconds: Double = 20, until isSatisfied: @escaping @Sendable ([Element]) -> Bool
  ) async throws -> [Element] {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let wake: @Sendable () -> Void = { continuation.resume() }
      let key: Int? = state.withLock { state in
        guard !isSatisfied(state.elements) else { return nil }
        state.nextWaiter += 1
        state.waiters[state.nextWaiter] = (isSatisfied, wake)
        return state.nextWaiter
      }
      guard let key else {
        continuation.resume()
        return
      }
      DispatchQueue.global().asyncAfter(deadline: .now() + seconds) {
        let waiter = self.state.withLock { $0.waiters.removeValue(forKey: key) }
        waiter?.wake()
      }
    }
    let recorded = elements
    guard isSatisfied(recorded) else { throw TimedOut(recorded: recorded) }
    return recorded
  }

  @discardableResult
  func wait(count: Int) async throws -> [Element] {
    try await wait { $0.count >= count }
  }
}
