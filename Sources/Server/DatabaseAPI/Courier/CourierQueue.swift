import Synchronization

/// How many requests of the web courier are looked after at a time; the others wait in the order in
/// which they came.
///
/// After a restart all readers come at once. One that is looked after takes several times the memory of
/// one that waits, and the store has only a few threads for all of them.
final class CourierQueue: Sendable {
  private struct State {
    var places: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// The first that waits; those before it are gone.
    var first = 0
  }

  private let state: Mutex<State>

  init(places: Int) {
    state = Mutex(State(places: places))
  }

  private func enter() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.places > 0 else {
          state.waiting.append(continuation)
          return false
        }
        state.places -= 1
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  private func leave() {
    let next = state.withLock { state in
      guard state.first < state.waiting.count else {
        state.places += 1
        return CheckedContinuation<Void, Never>?.none
      }
      defer {
        state.first += 1
        if state.first * 2 > state.waiting.count {
          state.waiting.removeFirst(state.first)
          state.first = 0
        }
      }
      return state.waiting[state.first]
    }
    next?.resume()
  }

  /// Requests that wait for a place.
  var waitingCount: Int { state.withLock { $0.waiting.count - $0.first } }

  /// Does something in a task of its own, whose memory is free when this returns.
  func serve<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await enter()
    let result = await Task<Result<Value, Failure>, Never> {
      do throws(Failure) {
        return .success(try await body())
      } catch {
        return .failure(error)
      }
    }.value
    leave()
    return try result.get()
  }
}
