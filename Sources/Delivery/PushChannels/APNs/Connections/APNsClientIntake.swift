import Synchronization

/// The intake of an APNs client: it takes pushes from any thread, limits how many wait, and
/// publishes the client's metrics.
///
/// The loop collects in batches, so that many pushes cost one wake-up.
final class APNsClientIntake: Sendable {
  enum Entry {
    /// Taken; the caller must wake the loop.
    case wake
    /// Taken; the loop is already awake.
    case taken
    case rejected(String)
  }

  private struct State {
    var incoming: [PushItem] = []
    var isCollectionScheduled = false
    var isClosed = false
    var metrics = APNsClient.Metrics()
  }

  private let state = Mutex(State())
  private let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
  }

  var metrics: APNsClient.Metrics { state.withLock(\.metrics) }

  func enter(_ item: PushItem) -> Entry {
    state.withLock { state in
      guard !state.isClosed else {
        state.metrics.notSent += 1
        return .rejected("the client is closed")
      }
      guard state.metrics.waiting < capacity else {
        state.metrics.notSent += 1
        return .rejected("\(capacity) pushes wait already")
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

  /// Refuses all later pushes, and returns those not collected.
  func close() -> [PushItem] {
    state.withLock { state in
      defer { state.incoming = [] }
      state.isClosed = true
      return state.incoming
    }
  }

  /// Updates the metrics, on the loop's thread.
  func update(_ change: (inout APNsClient.Metrics) -> Void) {
    state.withLock { change(&$0.metrics) }
  }
}
