import Synchronization

/// The intake of an APNs client: it accepts pushes from any thread, limits the number that wait,
/// and publishes the client's metrics. A lock protects all of it.
///
/// The loop collects pushes in batches, so that many pushes cost one wake-up of the loop.
final class APNsClientIntake: Sendable {
  /// The answer to a push.
  enum Entry {
    /// The push was accepted. The caller must wake the loop.
    case wake
    /// The push was accepted. The loop is already awake.
    case taken
    /// The push was rejected. The text gives the reason.
    case rejected(String)
  }

  /// The state under the lock.
  private struct State {
    /// The pushes that the loop has not collected.
    var incoming: [PushItem] = []
    /// Whether the loop was woken and has not collected yet.
    var isCollectionScheduled = false
    /// Whether the intake rejects all pushes.
    var isClosed = false
    /// The published metrics.
    var metrics = APNsClient.Metrics()
  }

  /// The state.
  private let state = Mutex(State())
  /// The greatest number of waiting pushes.
  private let capacity: Int

  /// Creates an empty intake.
  init(capacity: Int) {
    self.capacity = capacity
  }

  /// The published metrics.
  var metrics: APNsClient.Metrics { state.withLock(\.metrics) }

  /// Accepts or rejects a push. A push counts as waiting until the client sends or returns it.
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

  /// Returns the pushes since the last call. They still count as waiting.
  func collect() -> [PushItem] {
    state.withLock { state in
      defer { state.incoming = [] }
      state.isCollectionScheduled = false
      return state.incoming
    }
  }

  /// Rejects all later pushes, and returns those that were not collected.
  func close() -> [PushItem] {
    state.withLock { state in
      defer { state.incoming = [] }
      state.isClosed = true
      return state.incoming
    }
  }

  /// Updates the metrics. Only the loop's thread calls it, or a caller whose loop is shut down.
  func update(_ change: (inout APNsClient.Metrics) -> Void) {
    state.withLock { change(&$0.metrics) }
  }
}
