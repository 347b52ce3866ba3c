import StoreModel
import Synchronization

/// Passes committed changes from the store's writer to the tasks that dispatch them, in memory and
/// in order, as ``LaneSchedule`` decides.
final class ChangeHandover: Sendable {
  private struct State {
    var schedule: LaneSchedule
    /// The signals of lanes that wait with changes kept back.
    var sleepers: [DatabasePart: WakeSignal] = [:]
  }

  private let state: Mutex<State>
  /// Signals that there may be a task.
  private let signal = WakeSignal()
  private let settlement = Settlement()

  init(capacity: Int, laneLimit: Int) {
    state = Mutex(State(schedule: LaneSchedule(capacity: capacity, laneLimit: laneLimit)))
  }

  /// Adds the changes of a commit. Never blocks.
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

  func list(_ parts: [DatabasePart]) { update { $0.list(parts) } }
  func failListing() { update { $0.failListing() } }

  /// Notes that the outbox may have changes that will not be offered.
  func raiseDoubt() {
    update { $0.raiseDoubt() }
    signal.signal()
  }

  /// Waits for the next work of a served lane. With `patience`, waits at most that many seconds,
  /// because the lane keeps changes back.
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

  /// Counts a batch of a lane that reads the outbox, and returns whether the lane should give up
  /// its place.
  func takeTurn(of part: DatabasePart) -> Bool {
    state.withLock { $0.schedule.takeTurn(of: part) }
  }

  /// Gives a lane's place to others for a while.
  func yield(_ part: DatabasePart) {
    update { $0.yield(part) }
    signal.signal()
  }

  func isOpen(_ part: DatabasePart) -> Bool { state.withLock { $0.schedule.isOpen(part) } }
  func doubtLease(of part: DatabasePart) { update { $0.doubtLease(of: part) } }

  /// - Returns: whether the lane is no longer served.
  func abandon(_ part: DatabasePart) -> Bool {
    defer { signal.signal() }
    return update { $0.abandon(part) }
  }

  /// Makes these lanes read the outbox.
  func look(into parts: [DatabasePart]) {
    let woken = state.withLock { state in
      for part in parts { state.schedule.fallBehind(part) }
      return parts.compactMap { state.sleepers[$0] }
    }
    for sleeper in woken { sleeper.signal() }
    signal.signal()
  }

  func beginCatchingUp(_ part: DatabasePart) { update { $0.beginCatchingUp(part) } }
  func fallBehind(_ part: DatabasePart) { update { $0.fallBehind(part) } }

  /// Returns when every change is dispatched and that is stored, or when the handover is stopped.
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

  func stop() {
    let sleepers = state.withLock { state in
      state.schedule.stop()
      return Array(state.sleepers.values)
    }
    for sleeper in sleepers { sleeper.signal() }
    signal.signal()
    settlement.come()
  }

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
