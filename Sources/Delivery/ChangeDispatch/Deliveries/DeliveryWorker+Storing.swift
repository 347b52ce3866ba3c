import CloudKitModel
import Concurrency
import KillPoints
import PushChannels
import StoreModel

/// The worker's two tasks. The *recorder* writes outcomes to the store. The *taker* takes due
/// deliveries from the store: it leases them.
extension DeliveryWorker {
  // MARK: Recording outcomes

  /// Runs the recorder: it writes outcomes in batches until the worker is stopped. After a failed
  /// write, the recorder waits and tries again.
  func record() async {
    var retry = StoreBackoff()
    while true {
      let (outcomes, isIdle, stopDeadline) = state.withLock { state in
        let outcomes = state.outcomes.prefix(configuration.updateBatchSize)
        return (outcomes, state.underWayCount == 0, state.stopDeadline)
      }
      if outcomes.isEmpty {
        if let stopDeadline {
          let rest = (stopDeadline - .now) / .seconds(1)
          if isIdle || rest <= 0 { return }
          await recorderSignal.wait(atMost: rest)
        } else {
          await recorderSignal.wait()
        }
        continue
      }
      do {
        let merged = try await store.updateDeliveries(outcomes.map(\.update))
        KillPoint.afterOutcome.reach()
        retry.succeed()
        recording.succeed()
        settle(outcomes, mergedBeside: merged)
      } catch {
        if stopDeadline != nil { return }
        recording.fail(error)
        let delay = retry.fail()
        report(
          WorkReport(
            "outcomes of pushes could not be written, trying again",
            [
              "pushes": .count(outcomes.count), "retryAfter": .seconds(delay),
              "cause": .cause(error),
            ])
        )
        // A stop cancels the sleep. The recorder then tries once more, and ends at the next
        // failure.
        try? await Task.sleep(for: .seconds(delay))
      }
    }
  }

  /// Applies outcomes that are now in the store.
  ///
  /// - Parameter mergedBeside: The number of other deliveries that the store merged into the
  ///   delivered ones.
  private func settle(
    _ outcomes: ArraySlice<DeliveryWorkerState.Outcome>, mergedBeside: Int
  ) {
    let routes = Set(outcomes.map(\.delivery.route))
    let (again, wakesTaker, isSettled, backlog) = state.withLock { state in
      let again = state.settle(outcomes, mergedBeside: mergedBeside)
      let isPutOff = outcomes.contains { $0.update.state.isPutOff }
      let needsTaking = routes.contains { state.schedules[$0]?.needsTaking == true }
      let isSettled = state.isSettled
      let wakesTaker = isPutOff || needsTaking || (isSettled && state.waitingCount > 0)
      return (again, wakesTaker, isSettled, state.backlogTransition())
    }
    reportBacklog(backlog)
    for delivery in again { send(delivery) }
    if wakesTaker { takerSignal.signal() }
    if isSettled { settlement.becomeTrue() }
  }

  /// Reports that the number of waiting deliveries exceeded its limit (`true`) or fell to half of
  /// the limit (`false`). `nil` reports nothing.
  private func reportBacklog(_ transition: Bool?) {
    switch transition {
    case true?:
      report(
        WorkReport(
          "too many pushes wait: the server merges silent pushes to the same device, also of "
            + "different subscriptions, until the number falls to half of the limit",
          ["waiting": .count(metrics.waiting), "limit": .count(configuration.waitingLimit)]))
    case false?:
      report(
        WorkReport(
          "the number of waiting pushes fell to half of the limit: the server no longer merges "
            + "silent pushes of different subscriptions",
          ["waiting": .count(metrics.waiting), "limit": .count(configuration.waitingLimit)]))
    case nil:
      break
    }
  }

  // MARK: Taking from the store

  /// The time in seconds between two checks whether this server is registered in its cluster.
  private static let registrationPause = 0.05

  /// Runs the taker: it takes due deliveries until the worker is stopped. After a failure of the
  /// store, the taker waits and tries again.
  func take() async {
    var retry = StoreBackoff()
    while !state.withLock({ $0.isStopped }) {
      guard let holder = holder() else {
        await takerSignal.wait(atMost: Self.registrationPause)
        continue
      }
      do {
        if state.withLock({ $0.isToTakeOver }) { try await prepare(as: holder) }
        try await takeDue(as: holder)
        retry.succeed()
        sending.succeed()
        if await waitForNextTaking() == .toRecount { try await count() }
      } catch {
        sending.fail(error)
        let delay = retry.fail()
        report(
          WorkReport(
            "waiting pushes could not be read, trying again",
            ["retryAfter": .seconds(delay), "cause": .cause(error)]))
        await takerSignal.wait(atMost: delay)
      }
    }
  }

  /// Takes over the deliveries of an earlier process, or of a server that is gone. After a failure,
  /// the next round tries again.
  private func prepare(as holder: Int64) async throws {
    state.withLock { $0.isToTakeOver = false }
    do {
      try await takeOverDeliveries(as: holder)
    } catch {
      state.withLock { $0.isToTakeOver = true }
      throw error
    }
  }

  /// Ends the leases of all processes that are not registered servers, except those of `holder`.
  /// Then makes all routes take due deliveries.
  private func takeOverDeliveries(as holder: Int64) async throws {
    try await store.reclaimDeliveries(at: clock(), exceptOf: holder)
    for route in try await store.deliveryRoutes().keys {
      state.withLock { state in state.withSchedule(of: route) { $0.fallBehind() } }
    }
    try await count()
  }

  /// Asks the store for the number of deliveries without a final outcome.
  private func count() async throws {
    state.withLock { $0.beginCounting() }
    let owed = try await store.owedDeliveryCount()
    if !isPrepared { backlogs.begin(owed: owed) }
    let backlog = state.withLock { state in
      state.count(owed)
      return state.backlogTransition()
    }
    reportBacklog(backlog)
  }

  /// Takes due deliveries for all routes that need some. Then asks the store for the time at which
  /// the next delivery of each route is due.
  private func takeDue(as holder: Int64) async throws {
    while let (route, limit) = beginTaking() {
      do {
        let taken = try await store.takeDeliveries(
          on: route, dueAt: clock(), limit: limit, lease: lease(of: holder),
          mergingHarder: state.withLock { $0.metrics.isMergingHarder })
        admit(taken, on: route)
      } catch {
        state.withLock { state in state.withSchedule(of: route) { $0.failTaking() } }
        throw error
      }
    }
    for route in state.withLock({ Array($0.schedules.keys) }) {
      guard state.withLock({ $0.schedules[route]?.wantsNextDue == true }) else { continue }
      let due = try await store.nextDeliveryTime(
        on: route, after: Timestamp(milliseconds: .min), for: holder)
      state.withLock { state in state.withSchedule(of: route) { $0.setNextDue(due) } }
    }
  }

  /// Returns a route that needs deliveries, and the number to take; `nil` if no route needs any.
  private func beginTaking() -> (route: DeliveryRoute.ID, limit: Int)? {
    let now = clock()
    return state.withLock { state in
      guard !state.isStopped else { return nil }
      for route in state.schedules.keys {
        if let free = state.withSchedule(of: route, { $0.beginTaking(at: now) }) {
          return (route, min(free, configuration.takingSize))
        }
      }
      return nil
    }
  }

  /// Adds the deliveries that were taken from the store to the schedule of their route, and sends
  /// those that may be sent now.
  private func admit(_ taken: TakenDeliveries, on route: DeliveryRoute.ID) {
    let (admitted, isSettled, backlog) = state.withLock { state in
      let admitted = state.withSchedule(of: route) { $0.admit(taken) }
      state.metrics.merged += taken.mergedCount
      state.metrics.abandoned += taken.lostCount
      state.addOwed(-taken.mergedCount - taken.lostCount)
      return (state.isStopped ? [] : admitted, state.isSettled, state.backlogTransition())
    }
    reportBacklog(backlog)
    for delivery in admitted { send(delivery) }
    if isSettled { settlement.becomeTrue() }
  }

  /// The reason for the next round of the taker.
  private enum Waking {
    case toTake
    /// The store must be asked again for the number of deliveries without a final outcome.
    case toRecount
  }

  /// Waits for a signal, the time of the next due delivery, or the time of a recount.
  private func waitForNextTaking() async -> Waking {
    let (wake, isTaking, isSettled, recountPause) = state.withLock { state in
      let wake = state.schedules.values.compactMap(\.nextWake).min()
      let isTaking = state.schedules.values.contains { $0.needsTaking || $0.wantsNextDue }
      let isSettled = state.isSettled
      let pause = !isTaking && isSettled ? state.recountPause() : nil
      return (wake, isTaking, isSettled, pause)
    }
    if isSettled { settlement.becomeTrue() }
    if isTaking { return .toTake }
    let untilWake = wake.map { $0.seconds - clock().seconds } ?? .infinity
    if untilWake <= 0 { return .toTake }
    let pause = min(untilWake, recountPause ?? .infinity)
    if pause.isFinite { await takerSignal.wait(atMost: pause) } else { await takerSignal.wait() }
    return pause < untilWake ? .toRecount : .toTake
  }
}

extension DeliveryUpdate.State {
  /// Whether the delivery waits for another attempt.
  var isPutOff: Bool {
    switch self {
    case .retry, .postponed: true
    case .delivered, .abandoned, .merged, .refused: false
    }
  }
}
