import Synchronization

/// A request that waits for a stream, with the completion to call.
struct PendingRequest {
  var request: HTTP2Request
  var completion: HTTP2ClientConnection.Completion
}

/// The queue between the callers of a client connection and its loop. It takes requests from any
/// thread and limits how many wait.
///
/// The loop collects the requests in batches, so many requests cost one wake-up of its thread.
final class ClientIntake: Sendable {
  /// The result of adding a request.
  enum Entry {
    /// The queue has the request; the caller must make the loop collect.
    case wake
    /// The queue has the request; the loop is going to collect anyway.
    case taken
    /// The queue did not take the request.
    case rejected(HTTP2Error)
  }

  /// The state behind the lock.
  private struct State {
    /// The requests since the last collection.
    var incoming: [PendingRequest] = []
    var isCollectionScheduled = false
    /// The error for all later requests, once the connection takes no more.
    var rejection: HTTP2Error?
    /// The load as the loop reported it last.
    var load = HTTP2ClientConnection.Load()
  }

  private let state = Mutex(State())
  private let maximumWaiting: Int

  init(maximumWaiting: Int) {
    self.maximumWaiting = maximumWaiting
  }

  /// The load of the connection, with the requests that the loop has not collected.
  var load: HTTP2ClientConnection.Load {
    state.withLock { state in
      var load = state.load
      load.waiting += state.incoming.count
      return load
    }
  }

  /// Adds a request, unless the connection takes no more or the limit is reached.
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

  /// Returns the requests since the last call. They still count as waiting.
  func collect() -> [PendingRequest] {
    state.withLock { state in
      defer { state.incoming = [] }
      state.isCollectionScheduled = false
      state.load.waiting += state.incoming.count
      return state.incoming
    }
  }

  /// Rejects all later requests with `error`.
  ///
  /// - Returns: the requests that the loop has not collected. The caller completes them.
  func close(_ error: HTTP2Error) -> [PendingRequest] {
    state.withLock { state in
      defer { state.incoming = [] }
      state.rejection = error
      return state.incoming
    }
  }

  /// Records the counts of the loop.
  func update(waiting: Int, openStreams: Int, maximumStreams: Int) {
    state.withLock { state in
      state.load.waiting = waiting
      state.load.openStreams = openStreams
      state.load.maximumStreams = maximumStreams
    }
  }
}
