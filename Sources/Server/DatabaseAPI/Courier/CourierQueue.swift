import Synchronization

/// A queue that limits how many of the web courier's requests use the store at the same time. A
/// request has a place while it uses the store, and none while it waits for a notification. Further
/// requests wait for a place in the order of their arrival.
///
/// The limit exists because all readers connect at once after a restart. A request with a place
/// takes several times the memory of a request that waits for one, and the store has only a few
/// threads for all requests.
final class CourierQueue: Sendable {
  /// The state behind the lock.
  private struct State {
    /// The number of free places.
    var places: Int
    /// The requests that wait for a place, in the order of their arrival. Those before the index
    /// ``first`` have got their places; from time to time they are removed.
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// The index of the first request in ``waiting`` that still waits.
    var first = 0
  }

  /// The places and the waiting requests.
  private let state: Mutex<State>

  /// Creates a queue.
  ///
  /// - Parameter places: the most requests that use the store at the same time.
  init(places: Int) {
    state = Mutex(State(places: places))
  }

  /// Waits for a free place and occupies it.
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

  /// Passes the place of a finished request to the request that has waited longest. Without waiting
  /// requests the place becomes free.
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

  /// The number of requests that wait for a place.
  var waitingCount: Int { state.withLock { $0.waiting.count - $0.first } }

  /// Waits for a free place, then executes `body` in a task of its own. When this method returns,
  /// the memory of that task is free again.
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
