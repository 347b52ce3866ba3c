import StoreModel
import Synchronization

/// The queue that passes committed changes from the store's writer to the tasks that dispatch them,
/// in memory and in order.
///
/// ``LaneSchedule`` decides; this class adds the lock and the signals. Any thread may call its
/// methods.
///
/// A lane *keeps back* the changes without firings of its last batch: it stores their dispatch
/// later, together with that of further changes.
final class ChangeHandover: Sendable {
  /// The state under the lock.
  private struct State {
    /// The schedule of the lanes.
    var schedule: LaneSchedule
    /// The signals of lanes that keep changes back and wait for further ones.
    var sleepers: [DatabasePart: WakeSignal] = [:]
  }

  /// The state.
  private let state: Mutex<State>
  /// The signal that there may be a task.
  private let signal = WakeSignal()
  /// The tasks that wait in ``settled()``.
  private let settlement = Settlement()

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
      if state.sleepers.isEmpty { return [WakeSignal]() }
      return Set(entries.map(\.part)).compactMap { state.sleepers[$0] }
    }
    for sleeper in woken { sleeper.signal() }
    signal.signal()
  }

  /// Waits for the next task.
  func nextTask() async -> LaneSchedule.Task {
    while true {
      let task = update { $0.next() }
      if let task { return task }
      await signal.wait()
    }
  }

  /// Adds databases with changes in the outbox.
  func list(_ parts: [DatabasePart]) { update { $0.list(parts) } }
  /// Records that the listing of the outbox failed and must be repeated.
  func failListing() { update { $0.failListing() } }

  /// Records that the outbox may have changes that will not be offered. The store calls it after a
  /// commit with an unknown outcome.
  func raiseDoubt() {
    update { $0.raiseDoubt() }
    signal.signal()
  }

  /// Waits for the next work of a served lane.
  ///
  /// - Parameters:
  ///   - limit: The greatest number of changes to dispatch.
  ///   - patience: The seconds to wait at most, for a lane that keeps changes back; `nil` for other
  ///     lanes.
  func work(
    of part: DatabasePart, atMost limit: Int, within patience: Double? = nil
  ) async -> LaneSchedule.Work {
    let sleeper = WakeSignal()
    let work = state.withLock { state in
      let work = state.schedule.work(of: part, atMost: limit, keepsBack: patience != nil)
      if work == nil { state.sleepers[part] = sleeper }
      return work
    }
    guard let work else {
      await sleeper.wait(atMost: patience ?? 0)
      return state.withLock { state in
        state.sleepers[part] = nil
        return state.schedule.work(of: part, atMost: limit, keepsBack: true) ?? .idle
      }
    }
    // A finished lane gives its place to another.
    if case .done = work {
      update { _ in }
      signal.signal()
    }
    return work
  }

  /// Counts a batch of a lane that reads the outbox.
  ///
  /// - Returns: Whether the lane should give its place to another lane.
  func takeTurn(of part: DatabasePart) -> Bool {
    state.withLock { $0.schedule.takeTurn(of: part) }
  }

  /// Gives a lane's place to others. The lane is queued again.
  func yield(_ part: DatabasePart) {
    update { $0.yield(part) }
    signal.signal()
  }

  /// Whether a lane has work or is being served.
  func isOpen(_ part: DatabasePart) -> Bool { state.withLock { $0.schedule.isOpen(part) } }
  /// Drops a lane's changes in memory, because another server may dispatch them.
  func doubtLease(of part: DatabasePart) { update { $0.doubtLease(of: part) } }

  /// Stops serving a lane that another server dispatches.
  ///
  /// - Returns: Whether the lane is no longer served.
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

  /// Lets a lane take new changes in memory again. The caller reads the outbox next.
  func beginCatchingUp(_ part: DatabasePart) { update { $0.beginCatchingUp(part) } }
  /// Makes a lane read the outbox, without a signal.
  func fallBehind(_ part: DatabasePart) { update { $0.fallBehind(part) } }

  /// Returns when every change is dispatched and its dispatch is stored, or when the handover is
  /// stopped.
  func settled() async {
    await settlement.wait {
      let (isSettled, sleepers) = state.withLock { state in
        if state.schedule.isSettled { return (true, [WakeSignal]()) }
        state.schedule.hasWaitingCaller = true
        return (false, Array(state.sleepers.values))
      }
      // Changes that were kept back must be dispatched now.
      for sleeper in sleepers { sleeper.signal() }
      return isSettled
    }
  }

  /// Stops the handover: all later tasks and all work are `stop`.
  func stop() {
    let sleepers = state.withLock { state in
      state.schedule.stop()
      return Array(state.sleepers.values)
    }
    for sleeper in sleepers { sleeper.signal() }
    signal.signal()
    settlement.come()
  }

  /// Whether the handover was stopped.
  var isStopped: Bool { state.withLock { $0.schedule.isStopped } }

  /// The number of changes that wait in memory.
  var waitingCount: Int { state.withLock { $0.schedule.waitingCount } }

  /// Changes the schedule, and wakes the tasks that wait for the effects.
  private func update<Value>(_ change: (inout LaneSchedule) -> Value) -> Value {
    let (value, isSettled) = state.withLock { state in
      let value = change(&state.schedule)
      let isSettled = state.schedule.isSettled
      if isSettled { state.schedule.hasWaitingCaller = false }
      return (value, isSettled)
    }
    if isSettled { settlement.come() }
    return value
  }
}
