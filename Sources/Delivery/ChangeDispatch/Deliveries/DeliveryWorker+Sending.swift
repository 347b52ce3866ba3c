import CloudKitModel
import KillPoints
import PushChannels
import StoreModel

/// The sending of deliveries and the handling of answers. Any thread may call these methods.
extension DeliveryWorker {
  /// Adds deliveries that were just logged and leased to the worker. A stopped worker ignores them:
  /// the next process sends them when their lease ends.
  ///
  /// - Parameter waiting: The number of further logged deliveries that wait in the store, by route.
  public func enqueue(_ deliveries: [Delivery], waiting: [DeliveryRoute.ID: Int] = [:]) {
    guard !deliveries.isEmpty || !waiting.isEmpty else { return }
    let byRoute = Dictionary(grouping: deliveries, by: \.route)
    let (admitted, refused) = state.withLock { state -> ([Delivery], [Delivery]) in
      guard !state.isStopped else { return ([], []) }
      var admitted: [Delivery] = []
      var refused: [Delivery] = []
      for (route, deliveries) in byRoute {
        let answer = state.withSchedule(of: route) { $0.admit(deliveries) }
        admitted += answer.admitted
        refused += answer.refused
      }
      state.addOwed(deliveries.count + waiting.values.reduce(0, +))
      for route in waiting.keys { state.withSchedule(of: route) { $0.fallBehind() } }
      return (admitted, refused)
    }
    for delivery in admitted { send(delivery) }
    // Other deliveries took the capacity, so the refused ones wait in the store.
    let now = clock()
    for delivery in refused {
      finish(delivery, .postponed(until: now, reason: "too many pushes are in flight"))
    }
    if !waiting.isEmpty { takerSignal.signal() }
  }

  /// Sends a delivery if it has a route, has not expired, and ``DevicePacing`` permits it.
  /// Otherwise the delivery gets an outcome at once.
  func send(_ delivery: Delivery) {
    guard let route = route(delivery.device) else {
      return finish(delivery, .abandoned(reason: delivery.device.lackOfRoute))
    }
    let now = clock()
    guard delivery.expiration > now else {
      return finish(
        delivery, .abandoned(reason: "expired before it could be delivered"), hasExpired: true)
    }
    if let (until, reason) = state.withLock({ $0.pacing.postponement(of: delivery, at: now) }) {
      return finish(delivery, .postponed(until: until, reason: reason))
    }
    let pauses = state.withLock { state in
      if delivery.attempts == 0 {
        state.times.loggedToSent.record(now.seconds - delivery.logged.seconds)
      }
      return state.withSchedule(of: delivery.route) { $0.pauses(for: .refusal) }
    }
    KillPoint.beforePush.reach()
    route.send(delivery) { self.handle($0, of: delivery, sent: now, pauses: pauses) }
  }

  /// Handles the answer to an attempt: updates the route or the device, and finishes the delivery
  /// with an outcome.
  ///
  /// - Parameters:
  ///   - sent: The time at which the attempt began.
  ///   - pauses: The number of pauses of the route in a row before the attempt.
  private func handle(
    _ answer: PushAnswer, of delivery: Delivery, sent: Timestamp, pauses: Int
  ) {
    let now = clock()
    let next = answer.delay(attempts: delivery.attempts, pauses: pauses, random: random()).map {
      now.advanced(bySeconds: $0)
    }
    apply(answer, next, of: delivery, at: now)
    let wasSent = answer.reach != .notSent
    switch answer.next {
    case .done:
      KillPoint.afterPush.reach()
      let saved = delivery.notification.change.timestamp
      let waits = state.withLock { state in
        state.times.sentToAccepted.record(now.seconds - sent.seconds)
        state.times.savedToAccepted.record(now.seconds - saved.seconds)
        return state.hasWaiting
      }
      finish(
        delivery, .delivered(superseding: waits ? delivery.mergeKey : nil),
        device: delivery.device.refusal == nil ? nil : .accepted)
    case .retry:
      finish(delivery, .retry(at: next ?? now, reason: answer.reason, wasSent: wasSent))
    case .dropDevice:
      finish(
        delivery,
        .abandoned(reason: "the push service does not know the device token: \(answer.reason)"),
        device: .gone(registeredBefore: answer.invalidSince ?? now))
    case .refuseDevice:
      let reason = delivery.device.refusalText(answer)
      finish(
        delivery,
        next.map { .retry(at: $0, reason: reason, wasSent: wasSent) } ?? .abandoned(reason: reason),
        device: wasSent ? .refused(topic: answer.topic) : nil)
    case .fault:
      report(
        WorkReport(
          "a push failed and is not sent again", of: delivery, ["reason": .text(answer.reason)]))
      finish(delivery, .refused(reason: answer.reason, payload: answer.payload))
    }
  }

  /// Applies the consequences of an answer to the route or the device.
  ///
  /// - Parameter next: The time of the next attempt; `nil` if there is none.
  private func apply(
    _ answer: PushAnswer, _ next: Timestamp?, of delivery: Delivery, at now: Timestamp
  ) {
    switch answer.next {
    case .retry(_, .route):
      pause(delivery, until: next ?? now, answer.reason, for: .refusal)
    case .retry(_, .push) where answer.reach != .answered:
      let pauses = state.withLock { state in
        state.withSchedule(of: delivery.route) {
          $0.remainUnanswered(wasSent: answer.reach == .unanswered) ? $0.pauses(for: .silence) : nil
        }
      }
      guard let pauses else { break }
      let seconds = PushRetryPolicy.silence.delay(attempt: pauses, random: random())
      pause(delivery, until: now.advanced(bySeconds: seconds), answer.reason, for: .silence)
    case .refuseDevice(nil) where answer.reach == .notSent:
      // Nothing was sent, so the answer says nothing about the route.
      break
    case .retry(_, .device), .refuseDevice(.some):
      state.withLock { $0.pacing.hold(delivery.device.token, until: next ?? now, at: now) }
      resume(delivery)
    case .done, .retry(_, .push), .dropDevice, .refuseDevice(nil), .fault:
      resume(delivery)
    }
  }

  /// Stops sending on the route of a delivery until `end`, and reports this if the route was not
  /// paused already.
  private func pause(
    _ delivery: Delivery, until end: Timestamp, _ reason: String,
    for cause: DeliverySchedule.PauseCause
  ) {
    let isNews = state.withLock { state in
      state.withSchedule(of: delivery.route) { $0.pause(until: end, for: cause) }
    }
    if isNews {
      report(
        WorkReport(
          "pushes are paused", onRouteOf: delivery,
          ["reason": .text(reason), "at": .text(end.iso8601)]))
    }
    takerSignal.signal()
  }

  /// Records that the route of a delivery works. Reports this if the route was paused.
  private func resume(_ delivery: Delivery) {
    let wasPaused = state.withLock { state in
      state.withSchedule(of: delivery.route) { $0.succeed() }
    }
    guard wasPaused else { return }
    report(WorkReport("pushes continue", onRouteOf: delivery, [:]))
    takerSignal.signal()
  }

  /// Adds the outcome of a delivery to the outcomes that the recorder writes to the store.
  ///
  /// - Parameters:
  ///   - device: What the answer says of the device; `nil` if its registration stays as it is.
  ///   - hasExpired: Whether the delivery was abandoned because it expired, for the metrics.
  func finish(
    _ delivery: Delivery, _ outcome: DeliveryUpdate.State,
    device: DeliveryUpdate.DeviceVerdict? = nil, hasExpired: Bool = false
  ) {
    let update = DeliveryUpdate(
      id: delivery.id, state: outcome, timestamp: clock(), device: device)
    let written = state.withLock {
      $0.add(.init(delivery: delivery, update: update, hasExpired: hasExpired))
    }
    recorderSignal.signal()
    configuration.trace?(delivery, written)
  }
}
