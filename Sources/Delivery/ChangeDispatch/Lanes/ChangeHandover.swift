import Concurrency
import StoreModel
import Synchronization

/// The queue in memory that passes committed changes, in order, from the store's writer to the
/// tasks that dispatch them. The *outbox* of the store has the same changes until they are
/// dispatched.
///
/// ``LaneSchedule`` decides; this class adds the lock and the signals. Any thread may call its
/// methods.
///
/// A *lane* is the dispatch of one database, or of one part of a divided database. A lane *keeps
/// back* the changes of its last batch that match no subscription. It stores their dispatch later,
/// together with that of further changes.
final class ChangeHandover: Sendable {
  /// The state under the lock.
  private struct State {
    var schedule: LaneSchedule
    /// The signals of lanes that keep changes back and wait for further ones.
    var sleepers: [DatabasePart: AsyncSignal] = [:]
  }

  private let state: Mutex<State>
  /// The signal that wakes ``nextTask()``, because there may be a task.
  private let signal = AsyncSignal()
  /// The tasks that wait in ``settled()``.
  private let settlement = AsyncCondition()

  /// Creates a handover without changes.
  ///
  /// - Parameters:
  ///   - capacity: The greatest number of changes that wait in memory.
  ///   - laneLimit: The greatest number of lanes that are served at once.
  init(capacity: Int, laneLimit: Int) {
    state = Mutex(State(schedule: LaneSchedule(capacity: capacity, laneLimit: laneLimit)))
  }

  /// Adds the changes of a commit. The method never blocks, so the store's writer may call it.
  func offer(_ entries: [OutboxEntry]) {
    let woken = state.withLock { state in
      state.schedule.offer(entries)
      if state.sleepers.isEmpty { return [AsyncSignal]() }
      return Set(entries.map(\.part)).compactMap { state.sleepers[$0] }
    }
    for sleeper in woken { sleeper.signal() }
    signal.signal()
  }

  func nextTask() async -> LaneSchedule.Task {
    while true {
      let task = update { $0.next() }
      if let task { return task }
      await signal.wait()
    }
  }

  /// Adds databases with changes in the outbox, and ends a listing.
  func list(_ parts: [DatabasePart]) { update { $0.list(parts) } }
  /// Records that the listing of the outbox failed and must be repeated.
  func failListing() { update { $0.failListing() } }

  /// Records that the outbox may have changes that ``offer(_:)`` will not receive. The store calls
  /// the method after a commit with an unknown outcome.
  func raiseDoubt() {
    update { $0.raiseDoubt() }
    signal.signal()
  }

  /// Returns the next work of a served lane. A lane that keeps changes back may wait for further
  /// changes.
  ///
  /// - Parameters:
  ///   - limit: The greatest number of changes to dispatch.
  ///   - patience: The greatest time to wait in seconds, for a lane that keeps changes back or has
  ///     deferred firings; `nil` for other lanes, which do not wait.
  func work(
    of part: DatabasePart, atMost limit: Int, within patience: Double? = nil
  ) async -> LaneSchedule.Work {
    let sleeper = AsyncSignal()
    let work = state.withLock { state in
      let work = state.schedule.work(of: part, atMost: limit, keepsBack: patience != nil)
      if work == nil, patience != 0 { state.sleepers[part] = sleeper }
      return work
    }
    guard let work else {
      if patience == 0 { return .idle }
      await sleeper.wait(atMost: patience ?? 0)
      return state.withLock { state in
        state.sleepers[part] = nil
        return state.schedule.work(of: part, atMost: limit, keepsBack: true) ?? .idle
      }
    }
    // A finished lane makes place for another one.
    if case .done = work {
      update { _ in }
      signal.signal()
    }
    return work
  }

  /// Counts a batch of a lane that reads the outbox. After 16 batches, the lane should let waiting
  /// lanes continue.
  ///
  /// - Returns: `true` if the lane should call ``yield(_:)``.
  func takeTurn(of part: DatabasePart) -> Bool {
    state.withLock { $0.schedule.takeTurn(of: part) }
  }

  /// Stops serving a lane, and adds it to the end of the queue of lanes.
  func yield(_ part: DatabasePart) {
    update { $0.yield(part) }
    signal.signal()
  }

  func isOpen(_ part: DatabasePart) -> Bool { state.withLock { $0.schedule.isOpen(part) } }
  /// Removes a lane's changes from memory, because another server may dispatch them.
  func doubtLease(of part: DatabasePart) { update { $0.doubtLease(of: part) } }

  /// Stops serving a lane that another server dispatches.
  ///
  /// - Returns: `true` if the lane is no longer served; see ``LaneSchedule/abandon(_:)``.
  func abandon(_ part: DatabasePart) -> Bool {
    defer { signal.signal() }
    return update { $0.abandon(part) }
  }

  /// Makes these lanes read the outbox, and wakes them.
  func look(into parts: [DatabasePart]) {
    let woken = state.withLock { state in
      for part in parts { state.schedule.fallBehind(part) }
      return parts.compactMap { state.sleepers[$0] }
    }
    for sleeper in woken { sleeper.signal() }
    signal.signal()
  }

  /// Makes a lane accept new changes in memory again. The caller must then read the outbox.
  func beginCatchingUp(_ part: DatabasePart) { update { $0.beginCatchingUp(part) } }
  /// Makes a lane read the outbox. Wakes no task: the caller serves the lane.
  func fallBehind(_ part: DatabasePart) { update { $0.fallBehind(part) } }

  /// Returns when every change is dispatched and its dispatch is stored, or when the handover is
  /// stopped.
  func settled() async {
    await settlement.wait {
      let (isSettled, sleepers) = state.withLock { state in
        if state.schedule.isSettled { return (true, [AsyncSignal]()) }
        state.schedule.hasWaitingCaller = true
        return (false, Array(state.sleepers.values))
      }
      // Lanes must store the dispatch of the changes that they keep back now.
      for sleeper in sleepers { sleeper.signal() }
      return isSettled
    }
  }

  /// Stops the handover: ``nextTask()`` and ``work(of:atMost:within:)`` then return `stop`. Resumes
  /// the callers of ``settled()``.
  func stop() {
    let sleepers = state.withLock { state in
      state.schedule.stop()
      return Array(state.sleepers.values)
    }
    for sleeper in sleepers { sleeper.signal() }
    signal.signal()
    settlement.becomeTrue()
  }

  var isStopped: Bool { state.withLock { $0.schedule.isStopped } }

  var waitingCount: Int { state.withLock { $0.schedule.waitingCount } }

  /// Changes the schedule. If no work is left, resumes the callers of ``settled()``.
  private func update<Value>(_ change: (inout LaneSchedule) -> Value) -> Value {
    let (value, isSettled) = state.withLock { state in
      let value = change(&state.schedule)
      let isSettled = state.schedule.isSettled
      if isSettled { state.schedule.hasWaitingCaller = false }
      return (value, isSettled)
    }
    if isSettled { settlement.becomeTrue() }
    return value
  }
}
