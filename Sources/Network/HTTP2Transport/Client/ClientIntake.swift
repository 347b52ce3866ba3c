import Synchronization

/// A request on its way to a stream, with whom to tell.
struct PendingRequest {
  var request: HTTP2Request
  var completion: HTTP2ClientConnection.Completion
}

/// The door of a client connection: takes requests from any thread and bounds how many wait.
///
/// The loop collects them in batches, so that many requests cost one wake-up.
final class ClientIntake: Sendable {
  enum Entry {
    /// Taken; the caller must see to it that the loop collects.
    case wake
    /// Taken; the loop is already on its way.
    case taken
    case rejected(HTTP2Error)
  }

  private struct State {
    var incoming: [PendingRequest] = []
    var isCollectionScheduled = false
    var rejection: HTTP2Error?
    var load = HTTP2ClientConnection.Load()
  }

  private let state = Mutex(State())
  private let maximumWaiting: Int

  init(maximumWaiting: Int) {
    self.maximumWaiting = maximumWaiting
  }

  var load: HTTP2ClientConnection.Load {
    state.withLock { state in
      var load = state.load
      load.waiting += state.incoming.count
      return load
    }
  }

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

  /// Hands over what has come since the last time. It still counts as waiting.
  func collect() -> [PendingRequest] {
    state.withLock { state in
      defer { state.incoming = [] }
      state.isCollectionScheduled = false
      state.load.waiting += state.incoming.count
      return state.incoming
    }
  }

  /// Refuses all later requests with `error`, and hands over those not collected.
  func close(_ error: HTTP2Error) -> [PendingRequest] {
    state.withLock { state in
      defer { state.incoming = [] }
      state.rejection = error
      return state.incoming
    }
  }

  /// Takes note of what the loop did.
  func update(waiting: Int, openStreams: Int, maximumStreams: Int) {
    state.withLock { state in
      state.load.waiting = waiting
      state.load.openStreams = openStreams
      state.load.maximumStreams = maximumStreams
    }
  }
}
