import Synchronization

/// A request that waits for a stream, with the function that gets its result.
struct PendingRequest {
  var request: HTTP2Request
  var completion: HTTP2ClientConnection.Completion
}

/// The queue between the callers of an ``HTTP2ClientConnection`` and its ``EventLoop``. It accepts
/// requests from any thread and limits how many wait.
///
/// The loop collects the requests in batches, so its thread wakes up once for many requests.
final class ClientIntake: Sendable {
  /// The result of adding a request.
  enum Entry {
    /// The caller must call ``ClientIntake/collect()`` on the loop's thread.
    case wake
    /// The queue has the request. The call of ``ClientIntake/collect()`` is already scheduled.
    case taken
    case rejected(HTTP2Error)
  }

  /// The state behind the lock.
  private struct State {
    var incoming: [PendingRequest] = []
    var isCollectionScheduled = false
    /// The error for all later requests; `nil` while the connection accepts requests.
    var rejection: HTTP2Error?
    var load = HTTP2ClientConnection.Load()
  }

  private let state = Mutex(State())
  private let maximumWaiting: Int

  init(maximumWaiting: Int) {
    self.maximumWaiting = maximumWaiting
  }

  /// The load of the connection. `waiting` includes the requests that the loop has not collected.
  var load: HTTP2ClientConnection.Load {
    state.withLock { state in
      var load = state.load
      load.waiting += state.incoming.count
      return load
    }
  }

  /// Adds a request unless the connection rejects requests or `maximumWaiting` requests wait.
  func enter(_ request: PendingRequest) -> Entry {
    state.withLock { state in
      if let rejection = state.rejection { return .rejected(rejection) }
      guard state.load.waiting + state.incoming.count < maximumWaiting else {
        return .rejected(.queueFull(limit: maximumWaiting))
      }
      state.incoming.append(request)
      defer { state.isCollectionScheduled = true }
      return state.isCollectionScheduled ? .taken : .wake
    }
  }

  /// Takes the requests since the last call. In ``load`` they still count as waiting.
  func collect() -> [PendingRequest] {
    state.withLock { state in
      defer { state.incoming = [] }
      state.isCollectionScheduled = false
      state.load.waiting += state.incoming.count
      return state.incoming
    }
  }

  /// Makes ``enter(_:)`` reject all later requests. The caller completes the returned ones.
  func close(_ error: HTTP2Error) -> [PendingRequest] {
    state.withLock { state in
      defer { state.incoming = [] }
      state.rejection = error
      return state.incoming
    }
  }

  func update(waiting: Int, openStreams: Int, maximumStreams: Int) {
    state.withLock { state in
      state.load.waiting = waiting
      state.load.openStreams = openStreams
      state.load.maximumStreams = maximumStreams
    }
  }
}
