import Synchronization

/// The intake of an APNs client: it accepts pushes from any thread, limits the number that wait,
/// and publishes the client's metrics. A lock protects this state.
///
/// The event loop of the client collects pushes in batches, so that many pushes need one wake-up of
/// the loop.
final class APNsClientIntake: Sendable {
  /// The answer of ``enter(_:)`` to a push.
  enum Entry {
    /// The push was accepted. The caller must wake the loop.
    case wake
    /// The push was accepted. An earlier push has already woken the loop.
    case taken
    /// The push was rejected. The text gives the reason.
    case rejected(String)
  }

  /// The state under the lock.
  private struct State {
    /// The accepted pushes that the loop has not collected.
    var incoming: [PushItem] = []
    /// Whether a caller was asked to wake the loop, and the loop has not collected since.
    var isCollectionScheduled = false
    var isClosed = false
    var metrics = APNsClient.Metrics()
  }

  private let state = Mutex(State())
  /// The number of waiting pushes from which the intake rejects further ones.
  private let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
  }

  var metrics: APNsClient.Metrics { state.withLock(\.metrics) }

  /// Accepts or rejects a push. An accepted push counts as waiting until the client sends it or
  /// answers it as not sent.
  func enter(_ item: PushItem) -> Entry {
    state.withLock { state in
      guard !state.isClosed else {
        state.metrics.notSent += 1
        return .rejected("the client is closed")
      }
      guard state.metrics.waiting < capacity else {
        state.metrics.notSent += 1
        return .rejected("\(capacity) pushes are waiting, which is the limit")
      }
      state.incoming.append(item)
      state.metrics.waiting += 1
      defer { state.isCollectionScheduled = true }
      return state.isCollectionScheduled ? .taken : .wake
    }
  }

  /// Removes and returns the accepted pushes since the last call. These pushes still count as
  /// waiting.
  func collect() -> [PushItem] {
    state.withLock { state in
      defer { state.incoming = [] }
      state.isCollectionScheduled = false
      return state.incoming
    }
  }

  /// Closes the intake, which then rejects all pushes. Removes and returns the pushes that were not
  /// collected.
  func close() -> [PushItem] {
    state.withLock { state in
      defer { state.incoming = [] }
      state.isClosed = true
      return state.incoming
    }
  }

  /// Updates the metrics. Only the loop's thread calls the method, or a caller after the loop was
  /// shut down.
  func update(_ change: (inout APNsClient.Metrics) -> Void) {
    state.withLock { change(&$0.metrics) }
  }
}
