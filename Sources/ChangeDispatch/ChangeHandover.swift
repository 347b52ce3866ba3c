import Storage
import Synchronization

/// Hands committed changes from the store's writer to the dispatcher, in memory and in order.
///
/// The queue is bounded. When it is full the dispatcher is said to be behind: what did not fit, and
/// all that follows, is read from the outbox instead, where every change stands anyway.
final class ChangeHandover: Sendable {
  /// What the dispatcher is to do next.
  enum Work {
    case dispatch([OutboxEntry])
    /// Read the outbox: changes were passed over.
    case catchUp
    /// Nothing came for a while.
    case idle
    case stop
  }

  /// The decisions of the handover, as a value.
  struct State {
    private(set) var waiting: [OutboxEntry] = []
    private(set) var isBehind: Bool
    private(set) var isStopped = false
    /// Whether the dispatcher is at what it took, or keeps changes back for a later transaction.
    private(set) var isUnderWay = false
    /// Whether someone waits until everything is dispatched.
    var isAwaited = false
    let capacity: Int

    /// - Parameter isBehind: whether the outbox may hold changes already, as after a start.
    init(capacity: Int, isBehind: Bool = true) {
      self.capacity = capacity
      self.isBehind = isBehind
    }

    mutating func offer(_ entries: [OutboxEntry]) {
      if isBehind { return }
      if waiting.count + entries.count > capacity {
        isBehind = true
      } else {
        waiting += entries
      }
    }

    /// Whether every change was dispatched and has left the outbox.
    var isSettled: Bool { isStopped || (waiting.isEmpty && !isBehind && !isUnderWay) }

    /// The next work, nil when there is none. Changes that were taken in before the queue was full
    /// come first, so that the order is kept.
    ///
    /// - Parameter keepsBack: whether the dispatcher keeps changes back for a later transaction.
    mutating func take(atMost limit: Int, keepsBack: Bool = false) -> Work? {
      let work = nextWork(atMost: limit, keepsBack: keepsBack)
      isUnderWay = work != nil || keepsBack
      return work
    }

    private mutating func nextWork(atMost limit: Int, keepsBack: Bool) -> Work? {
      if isStopped { return .stop }
      if !waiting.isEmpty {
        let batch = Array(waiting.prefix(limit))
        waiting.removeFirst(batch.count)
        return .dispatch(batch)
      }
      if isBehind { return .catchUp }
      return isAwaited && keepsBack ? .idle : nil
    }

    /// From now on changes are taken in again. Whoever calls this reads the outbox once more
    /// afterwards: a change may have been committed between the last reading and this call.
    mutating func beginCatchingUp() {
      isBehind = false
    }

    mutating func fallBehind() {
      isBehind = true
      waiting.removeAll()
    }

    mutating func stop() {
      isStopped = true
    }
  }

  private let state: Mutex<State>
  private let signal = WakeSignal()
  private let settlement = Settlement()

  init(capacity: Int) {
    state = Mutex(State(capacity: capacity))
  }

  /// Takes in the changes of a commit. Never blocks.
  func offer(_ entries: [OutboxEntry]) {
    state.withLock { $0.offer(entries) }
    signal.signal()
  }

  /// Waits for the next work; with `patience`, for so many seconds at most.
  func next(atMost limit: Int, within patience: Double? = nil) async -> Work {
    while true {
      if let work = take(atMost: limit, keepsBack: patience != nil) { return work }
      if let patience {
        await signal.wait(atMost: patience)
        return take(atMost: limit, keepsBack: true) ?? .idle
      }
      await signal.wait()
    }
  }

  private func take(atMost limit: Int, keepsBack: Bool) -> Work? {
    let (work, isSettled) = state.withLock { state in
      let work = state.take(atMost: limit, keepsBack: keepsBack)
      if state.isSettled { state.isAwaited = false }
      return (work, state.isSettled)
    }
    if isSettled { settlement.come() }
    return work
  }

  /// Comes back as soon as every change was dispatched and has left the outbox, or the handover is
  /// stopped.
  func settled() async {
    await settlement.wait {
      let isSettled = state.withLock { state in
        if !state.isSettled { state.isAwaited = true }
        return state.isSettled
      }
      // Changes that were kept back are to go now.
      if !isSettled { signal.signal() }
      return isSettled
    }
  }

  func beginCatchingUp() { state.withLock { $0.beginCatchingUp() } }
  func fallBehind() { state.withLock { $0.fallBehind() } }

  func stop() {
    state.withLock { $0.stop() }
    signal.signal()
    settlement.come()
  }

  var isStopped: Bool { state.withLock { $0.isStopped } }

  /// Changes that wait, and whether there are more in the outbox.
  var backlog: (waiting: Int, isBehind: Bool) {
    state.withLock { ($0.waiting.count, $0.isBehind) }
  }
}
