import StoreModel

extension PushRoute {
  /// Creates the route to the devices of one app through APNs.
  ///
  /// If APNs reports a push as too large (413), the route removes parts of the payload, down to
  /// half its size if possible. Then it sends the push once more. If nothing can be removed, the
  /// route does not send the push again.
  ///
  /// - Parameters:
  ///   - topic: The `apns-topic`, normally the app's bundle ID.
  ///   - send: Sends a push and calls back once with the result. The closure must not block.
  public init(
    topic: String,
    send: @escaping @Sendable (Push, @escaping @Sendable (APNsResult) -> Void) -> Void
  ) {
    self.init { delivery, attempt, completion in
      @Sendable func sendOnce(_ payload: PushPayload, isPrunedForAPNs: Bool) {
        let push = Push(
          delivery.notification, payload: payload, deviceToken: delivery.device.token,
          topic: topic, issued: delivery.logged)
        send(push) { result in
          if result.saysTooLarge, !isPrunedForAPNs {
            let smaller = PushPayload(
              delivery.notification, badge: delivery.badge, reader: .apns,
              sizeLimit: payload.bytes.count / 2)
            if smaller != payload { return sendOnce(smaller, isPrunedForAPNs: true) }
          }
          completion(
            Report(
              outcome: DeliveryOutcome.of(result, attempt: attempt),
              text: "\(result)", reach: result.reach, payload: payload.bytes, topic: topic))
        }
      }
      sendOnce(
        PushPayload(delivery.notification, badge: delivery.badge, reader: .apns),
        isPrunedForAPNs: false)
    }
  }

  /// Creates the route to a device whose token APNs has refused for the topic. The route sends nothing and
  /// reports the refusal again, so that each push has its reason.
  init(refusedFor topic: String) {
    self.init { delivery, _, completion in
      completion(
        Report(
          outcome: .refuseDevice(retryAfter: nil),
          text: "APNs answered 400 DeviceTokenNotForTopic to an earlier push",
          reach: .notSent, payload: [], topic: topic))
    }
    refusesDevice = true
  }
}

extension APNsResult {
  /// Whether APNs reports the payload as too large.
  fileprivate var saysTooLarge: Bool {
    if case .answered(413, _, _, _, _) = self { true } else { false }
  }

  /// How far the push came: it was answered, was sent without an answer, or was not sent.
  fileprivate var reach: PushRoute.Report.Reach {
    switch self {
    case .answered: .answered
    case .unknown: .unanswered
    case .notSent: .notSent
    }
  }
}
