import Synchronization

/// A queue that limits how many steps of the web courier's requests use the store at the same time. A
/// request has a place while it uses the store, and none while it waits for a notification.
///
/// The limit exists because all readers connect at once after a restart. A request with a place
/// takes several times the memory of a request that waits for one, and the store has only a few
/// threads for all requests.
///
/// Users take turns: a user's readers have at most ``placesByUser`` places, and a free place goes to the
/// user that has waited longest. So a user with many readers delays no other user.
final class CourierQueue: Sendable {
  /// The most places of one user's readers.
  static let placesByUser = 2

  private typealias Continuation = CheckedContinuation<Void, Never>

  /// The requests of one user.
  private struct Caller {
    var places = 0
    /// The requests that wait, in the order of their arrival. Those before ``first`` have got their
    /// places; from time to time they are removed.
    var waiting: [Continuation] = []
    var first = 0

    var hasWaiting: Bool { first < waiting.count }
    /// Whether the user waits for a turn.
    var isInLine: Bool { hasWaiting && places < CourierQueue.placesByUser }

    mutating func next() -> Continuation {
      defer {
        first += 1
        if first * 2 > waiting.count {
          waiting.removeFirst(first)
          first = 0
        }
      }
      return waiting[first]
    }
  }

  /// The state behind the lock.
  private struct State {
    var freePlaces: Int
    var callers: [String: Caller] = [:]
    /// The users in line for a turn, the longest wait first. Those before ``first`` have had it.
    var line: [String] = []
    var first = 0
    var waitingCount = 0

    /// Gives free places to the users in line.
    mutating func admit() -> [Continuation] {
      var admitted: [Continuation] = []
      while freePlaces > 0, first < line.count {
        let user = line[first]
        first += 1
        if first * 2 > line.count {
          line.removeFirst(first)
          first = 0
        }
        guard var caller = callers[user] else { continue }
        admitted.append(caller.next())
        caller.places += 1
        freePlaces -= 1
        waitingCount -= 1
        if caller.isInLine { line.append(user) }
        callers[user] = caller
      }
      return admitted
    }
  }

  private let state: Mutex<State>

  /// `places` is the most requests that use the store at the same time.
  init(places: Int) {
    state = Mutex(State(freePlaces: places))
  }

  private func enter(_ user: String) async {
    await withCheckedContinuation { continuation in
      let admitted = state.withLock { state in
        var caller = state.callers[user] ?? Caller()
        let wasInLine = caller.isInLine
        caller.waiting.append(continuation)
        state.waitingCount += 1
        if caller.isInLine, !wasInLine { state.line.append(user) }
        state.callers[user] = caller
        return state.admit()
      }
      for continuation in admitted { continuation.resume() }
    }
  }

  /// Passes the place of a finished request on.
  private func leave(_ user: String) {
    let admitted = state.withLock { state in
      guard var caller = state.callers[user] else { return [Continuation]() }
      let wasInLine = caller.isInLine
      caller.places -= 1
      state.freePlaces += 1
      if caller.isInLine, !wasInLine { state.line.append(user) }
      state.callers[user] = caller.places > 0 || caller.hasWaiting ? caller : nil
      return state.admit()
    }
    for continuation in admitted { continuation.resume() }
  }

  var waitingCount: Int { state.withLock { $0.waitingCount } }

  /// Waits for a free place, then executes `body` in a task of its own. When this method returns,
  /// the memory of that task is free again.
  ///
  /// - Parameter user: the record name of the reader's user; the reader's token while the user is
  ///   unknown.
  func serve<Value: Sendable, Failure: Error>(
    for user: String, _ body: @escaping @Sendable () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await enter(user)
    let result = await Task<Result<Value, Failure>, Never> {
      do throws(Failure) {
        return .success(try await body())
      } catch {
        return .failure(error)
      }
    }.value
    leave(user)
    return try result.get()
  }
}
