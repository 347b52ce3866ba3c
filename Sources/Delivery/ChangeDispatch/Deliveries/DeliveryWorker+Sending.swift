import CloudKitModel
import KillPoints
import PushChannels
import StoreModel

/// The sending of deliveries and the handling of reports. Any thread may call these methods.
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
    let rests = state.withLock { state in
      if delivery.attempts == 0 {
        state.times.loggedToSent.record(now.seconds - delivery.logged.seconds)
      }
      return state.withSchedule(of: delivery.route) { $0.rests(for: .refusal) }
    }
    let attempt = DeliveryAttempt(previous: delivery.attempts, rests: rests, random: random())
    KillPoint.beforePush.reach()
    route.send(delivery, attempt) { self.handle($0, of: delivery, sent: now) }
  }

  /// Handles the report of an attempt: updates the route or the device, and finishes the delivery
  /// with an outcome.
  ///
  /// - Parameter sent: The time at which the attempt began.
  private func handle(_ report: PushRoute.Report, of delivery: Delivery, sent: Timestamp) {
    let now = clock()
    note(report, of: delivery, at: now)
    switch report.outcome {
    case .delivered:
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
    case .dropDeviceToken(let invalidSince):
      finish(
        delivery,
        .abandoned(reason: "the push service does not know the device token: \(report.text)"),
        device: .gone(registeredBefore: invalidSince ?? now))
    case .refuseDevice(let seconds):
      let reason = delivery.device.refusalText(report)
      finish(
        delivery,
        seconds.map {
          DeliveryUpdate.State.retry(at: now.advanced(bySeconds: $0), reason: reason, wasSent: true)
        } ?? .abandoned(reason: reason),
        device: report.reach == .notSent ? nil : .refused(topic: report.topic))
    case .retry(let seconds, _):
      finish(
        delivery,
        .retry(
          at: now.advanced(bySeconds: seconds), reason: report.text,
          wasSent: report.reach != .notSent))
    case .refreshProviderToken:
      // The connection has already tried again with a new token, so the server's clock may be
      // wrong.
      finish(
        delivery,
        .retry(
          at: now.advanced(bySeconds: configuration.suspensionDelay), reason: report.text,
          wasSent: true))
    case .suspend(_, let message):
      finish(
        delivery,
        .retry(
          at: now.advanced(bySeconds: configuration.suspensionDelay), reason: message,
          wasSent: true))
    case .fault(let message):
      self.report(
        WorkReport(
          "a push failed and is not sent again", of: delivery, ["reason": .text(message)]))
      finish(delivery, .refused(reason: message, payload: report.payload))
    }
  }

  /// Applies the consequences of a report to the route or the device.
  private func note(_ report: PushRoute.Report, of delivery: Delivery, at now: Timestamp) {
    switch report.outcome {
    case .refreshProviderToken:
      rest(
        delivery, until: now.advanced(bySeconds: configuration.suspensionDelay),
        "APNs rejects new provider tokens as expired; check this machine's clock")
    case .suspend(_, let message):
      rest(delivery, until: now.advanced(bySeconds: configuration.suspensionDelay), message)
    case .retry(let seconds, .route):
      rest(delivery, until: now.advanced(bySeconds: seconds), report.text)
    case .retry(let seconds, .device), .refuseDevice(let seconds?):
      let end = now.advanced(bySeconds: seconds)
      state.withLock { $0.pacing.hold(delivery.device.token, until: end, at: now) }
      succeed(delivery)
    case .retry(_, .push) where report.reach != .answered:
      let rests = state.withLock { state in
        state.withSchedule(of: delivery.route) {
          $0.remainUnanswered(wasSent: report.reach == .unanswered) ? $0.rests(for: .silence) : nil
        }
      }
      guard let rests else { break }
      let seconds = Self.unansweredRest.delay(attempt: rests, random: random())
      rest(delivery, until: now.advanced(bySeconds: seconds), report.text, for: .silence)
    case .refuseDevice where report.reach == .notSent:
      // Nothing was sent, so the report says nothing about the route.
      break
    case .delivered, .dropDeviceToken, .refuseDevice, .retry, .fault:
      succeed(delivery)
    }
  }

  /// The policy for the duration of a rest if the service does not answer: 0.1 to 60 seconds. The
  /// duration grows until a push is answered.
  private static let unansweredRest = RetryPolicy(firstDelay: 0.1, greatestDelay: 60)

  /// Stops sending on the route of a delivery until `end`, and reports this if the route did not
  /// rest already.
  private func rest(
    _ delivery: Delivery, until end: Timestamp, _ reason: String,
    for cause: DeliverySchedule.RestCause = .refusal
  ) {
    let isNews = state.withLock { state in
      state.withSchedule(of: delivery.route) { $0.rest(until: end, for: cause) }
    }
    if isNews {
      report(
        WorkReport(
          "pushes are paused", onRouteOf: delivery,
          ["reason": .text(reason), "at": .text(end.iso8601)]))
    }
    takerSignal.signal()
  }

  /// Records that the route of a delivery works. Reports this if the route had rested.
  private func succeed(_ delivery: Delivery) {
    let hadRested = state.withLock { state in
      state.withSchedule(of: delivery.route) { $0.succeed() }
    }
    guard hadRested else { return }
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
