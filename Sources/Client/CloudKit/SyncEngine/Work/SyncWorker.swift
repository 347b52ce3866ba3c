/// The work of a sync engine: it does one job after the other, when a call or the schedule asks for it.
///
/// The worker does not keep the engine or the delegate alive. Tasks that wait do not keep the worker
/// alive.
final class SyncWorker: Sendable {
  /// The seconds for which changes of the state are collected into one event.
  private static let stateDelay = 0.1

  /// The objects that the worker works for.
  private struct Owner {
    weak var engine: CKSyncEngine?
    weak var delegate: (any CKSyncEngineDelegate)?
  }

  /// The jobs and the timers.
  private struct Plan {
    var schedule: SyncSchedule
    var waiting: [SyncJob] = []
    var running: SyncJob?
    var task: Task<Void, Never>?
    var endWaiters: [CheckedContinuation<Void, Never>] = []
    /// The task that waits for the schedule, and the time until which it waits.
    var timer: (task: Task<Void, Never>, time: Double)?
    /// Whether the delegate does not have the present state.
    var hasNewState = false
    var isStopped = false
    /// Ends the note that requests follow; nil if none do.
    var endNote: (@Sendable () -> Void)?
    var lastWaiter = 0
  }

  let requests: SyncRequests
  let state: CKSyncEngine.State
  let subscriptionID: CKSubscription.ID?
  let preparation = Locked(SyncPreparation())
  private let isAutomatic: Bool
  private let owner: Locked<Owner>
  private let plan: Locked<Plan>
  private let line = DelegateLine()
  private let begin = ContinuousClock.now

  init(_ configuration: CKSyncEngine.Configuration, state: CKSyncEngine.State) {
    requests = SyncRequests(database: configuration.database)
    subscriptionID = configuration.subscriptionID
    isAutomatic = configuration.automaticallySync
    plan = Locked(
      Plan(schedule: SyncSchedule(isAutomatic: isAutomatic, at: 0, random: .random(in: 0...1))))
    owner = Locked(Owner(engine: nil, delegate: configuration.delegate))
    self.state = state
  }

  private var now: Double { (ContinuousClock.now - begin) / .seconds(1) }

  // MARK: Life

  func start(for engine: CKSyncEngine) {
    owner.withLock { $0.engine = engine }
    state.onChange.withLock { $0.note = { [weak self] change in self?.note(change) } }
    guard isAutomatic else { return }
    observeAccount()
    proceed()
  }

  /// Ends all work. The engine is gone, or its delegate.
  func stop() {
    let timer = plan.withLock { plan in
      plan.isStopped = true
      defer { plan.timer = nil }
      return plan.timer?.task
    }
    timer?.cancel()
    cancelJobs()
    disconnect()
    proceed()
  }

  private func proceed() {
    plan.withLock { plan in
      defer { updateNote(in: &plan) }
      guard plan.running == nil, !plan.isStopped else { return }
      if !plan.waiting.isEmpty {
        plan.running = plan.waiting.removeFirst()
      } else if case let next = plan.schedule.next, next.time <= now {
        plan.running = SyncJob(work: .init(next.work), reason: .scheduled)
      }
      if let job = plan.running {
        plan.schedule.begin(job.work.scheduled)
        plan.task = Task { await self.perform(job) }
      } else {
        setTimer(in: &plan)
      }
    }
  }

  private func setTimer(in plan: inout Plan) {
    let time = plan.schedule.next.time
    if plan.isStopped || time == .infinity { return }
    // A timer that ends too early looks again.
    if let timer = plan.timer, timer.time <= time { return }
    plan.timer?.task.cancel()
    let deadline = begin + .seconds(time)
    let task = Task { [weak self] in
      // A sleep that was cancelled belongs to a timer that was replaced.
      guard (try? await Task.sleep(until: deadline, clock: .continuous)) != nil else { return }
      self?.endTimer(at: time)
    }
    plan.timer = (task, time)
  }

  /// Notes for the transport whether the engine is going to send requests soon.
  private func updateNote(in plan: inout Plan) {
    let isDue = plan.schedule.next.time <= now + SyncSchedule.longestSendDelay
    let isBusy = plan.running != nil || !plan.isStopped && (isDue || plan.hasNewState)
    if isBusy, plan.endNote == nil {
      plan.endNote = requests.database.client.value?.transport.expectRequests()
    } else if !isBusy {
      plan.endNote.take()?()
    }
  }

  private func endTimer(at time: Double) {
    plan.withLock { if $0.timer?.time == time { $0.timer = nil } }
    proceed()
  }

  // MARK: Jobs

  func run(_ work: SyncJob.Work) async throws {
    if line.isCurrent {
      throw CKError(
        .internalError,
        "a method of a CKSyncEngineDelegate must not wait for fetchChanges or sendChanges of its "
          + "engine, which wait for the method; call them in a task")
    }
    let number = plan.withLock { plan in
      plan.lastWaiter += 1
      return plan.lastWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        add(waiter, numbered: number, for: work)
        // The task may have been cancelled before the waiter was known.
        if Task.isCancelled { cancel(number) }
        proceed()
      }
    } onCancel: {
      cancel(number)
    }
  }

  private func add(_ waiter: SyncJob.Waiter, numbered number: Int, for work: SyncJob.Work) {
    let refusal: CKError? = plan.withLock { plan in
      if plan.isStopped { return Self.cancelled }
      if let throttle = plan.schedule.throttle(at: now) {
        return CKError(
          throttle.code, "the server accepts requests again in \(throttle.seconds) seconds",
          userInfo: [CKErrorRetryAfterKey: throttle.seconds])
      }
      if let place = plan.waiting.firstIndex(where: { $0.work.isSame(as: work) }) {
        plan.waiting[place].waiters[number] = waiter
      } else {
        plan.waiting.append(SyncJob(work: work, reason: .manual, waiters: [number: waiter]))
      }
      return nil
    }
    if let refusal { waiter.resume(throwing: refusal) }
  }

  /// Cancels the call with a number. Its job is cancelled if no other call waits for the job.
  private func cancel(_ number: Int) {
    let waiter: SyncJob.Waiter? = plan.withLock { plan in
      if let place = plan.waiting.firstIndex(where: { $0.waiters[number] != nil }) {
        defer { if plan.waiting[place].waiters.isEmpty { plan.waiting.remove(at: place) } }
        return plan.waiting[place].waiters.removeValue(forKey: number)
      }
      guard let running = plan.running, running.waiters[number] != nil else { return nil }
      if running.waiters.count > 1 { return plan.running?.waiters.removeValue(forKey: number) }
      plan.task?.cancel()
      return nil
    }
    waiter?.resume(throwing: Self.cancelled)
  }

  func cancelAll() async {
    plan.withLock { $0.schedule.cancel() }
    cancelJobs()
    proceed()
    if line.isCurrent { return }
    await withCheckedContinuation { waiter in
      let isIdle = plan.withLock { plan in
        if plan.running == nil { return true }
        plan.endWaiters.append(waiter)
        return false
      }
      if isIdle { waiter.resume() }
    }
  }

  private func cancelJobs() {
    let waiting = plan.withLock { plan in
      plan.task?.cancel()
      defer { plan.waiting = [] }
      return plan.waiting
    }
    for waiter in waiting.flatMap(\.waiters.values) { waiter.resume(throwing: Self.cancelled) }
  }

  private func perform(_ job: SyncJob) async {
    var failure: (any Error)?
    do {
      // Without the engine or the delegate, no request is sent.
      guard owner.withLock({ $0.engine != nil && $0.delegate != nil }) else {
        stop()
        throw Self.cancelled
      }
      try await prepare(for: job.reason)
      switch job.work {
      case .fetch(let options): try await fetch(.init(reason: job.reason, options: options))
      case .send(let options): try await send(.init(reason: job.reason, options: options))
      }
    } catch {
      failure = error
    }
    await deliverState()
    let outcome = outcome(of: job, failure)
    let (waiters, endWaiters) = plan.withLock { plan in
      plan.schedule.end(job.work.scheduled, outcome, at: now, random: .random(in: 0...1))
      let waiters = plan.running?.waiters ?? [:]
      let endWaiters = plan.endWaiters
      plan.running = nil
      plan.task = nil
      plan.endWaiters = []
      return (waiters, endWaiters)
    }
    for waiter in waiters.values {
      if let failure { waiter.resume(throwing: failure) } else { waiter.resume() }
    }
    for waiter in endWaiters { waiter.resume() }
    proceed()
  }

  private func outcome(of job: SyncJob, _ failure: (any Error)?) -> SyncSchedule.Outcome {
    guard let failure else { return .success }
    let error = CKError(anyOf: failure)
    switch error.code {
    case .notAuthenticated, .operationCancelled: return .refusal
    default: break
    }
    let errors =
      (error.partialErrorsByItemID?.values).map { $0.map { CKError(anyOf: $0) } } ?? [error]
    if errors.contains(where: \.isPassing) {
      let throttles = errors.compactMap { error in
        error.retryAfterSeconds.map { SyncSchedule.Throttle(code: error.code, seconds: $0) }
      }
      return .failure(throttles.max { $0.seconds < $1.seconds })
    }
    guard case .send = job.work, state.values.withLock({ !$0.recordChanges.isEmpty }) else {
      return .refusal
    }
    return .failure(nil)
  }

  static var cancelled: CKError { CKError(.operationCancelled, "the engine's work was cancelled") }

  func checkCancellation() throws {
    if Task.isCancelled { throw Self.cancelled }
  }

  // MARK: Triggers

  func notePush() {
    plan.withLock { $0.schedule.notePush(at: now) }
    proceed()
  }

  /// Schedules a fetch and a send at once, because the account may have changed or the courier is
  /// reached again.
  func resume() {
    plan.withLock { $0.schedule.resume(at: now) }
    proceed()
  }

  private func note(_ change: CKSyncEngine.State.Change) {
    let isFirst = plan.withLock { plan in
      if case .needsSending = change {
        plan.schedule.noteChange(at: now)
        if plan.running == nil { setTimer(in: &plan) }
      }
      defer {
        plan.hasNewState = true
        updateNote(in: &plan)
      }
      return !plan.hasNewState
    }
    guard isFirst else { return }
    Task { [weak self] in
      // Nobody cancels this task.
      try? await Task.sleep(for: .seconds(Self.stateDelay))
      await self?.deliverState()
      self?.proceed()
    }
  }

  // MARK: The delegate

  private func deliverState() async {
    // Without a delegate, nobody stores the state.
    try? await line.enter {
      let isNew = plan.withLock { plan in
        defer { plan.hasNewState = false }
        return plan.hasNewState
      }
      guard isNew else { return }
      try await call { [state] delegate, engine in
        await delegate.handleEvent(
          .stateUpdate(.init(stateSerialization: state.serialization)), syncEngine: engine)
      }
    }
  }

  func emit(_ event: CKSyncEngine.Event) async throws {
    try await withDelegate { delegate, engine in
      await delegate.handleEvent(event, syncEngine: engine)
    }
  }

  /// Calls the delegate after the earlier calls.
  ///
  /// - Throws: `operationCancelled` if the engine or the delegate is gone.
  func withDelegate<Result: Sendable>(
    _ body: @escaping @Sendable (any CKSyncEngineDelegate, CKSyncEngine) async -> Result
  ) async throws -> Result {
    try await line.enter { try await call(body) }
  }

  private func call<Result: Sendable>(
    _ body: @escaping @Sendable (any CKSyncEngineDelegate, CKSyncEngine) async -> Result
  ) async throws -> Result {
    let (engine, delegate) = owner.withLock { ($0.engine, $0.delegate) }
    guard let engine, let delegate else {
      stop()
      throw Self.cancelled
    }
    return await line.call { await body(delegate, engine) }
  }
}

extension CKError {
  init(anyOf error: any Error) {
    self = error as? CKError ?? CKError(.internalError, "\(error)")
  }

  /// Whether the reason of the error passes, so that a sync engine repeats what failed.
  var isPassing: Bool {
    switch code {
    case .notAuthenticated, .accountTemporarilyUnavailable, .networkFailure, .networkUnavailable,
      .requestRateLimited, .serviceUnavailable, .zoneBusy, .operationCancelled,
      .serverResponseLost:
      true
    default: false
    }
  }
}
