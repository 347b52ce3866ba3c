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
  ///   - send: Sends a push and calls back once with the answer. The closure must not block.
  public init(topic: String, send: @escaping @Sendable (Push, @escaping Completion) -> Void) {
    self.init { delivery, completion in
      @Sendable func sendOnce(_ payload: PushPayload, isPrunedForAPNs: Bool) {
        let push = Push(
          delivery.notification, payload: payload, deviceToken: delivery.device.token,
          topic: topic, issued: delivery.logged)
        send(push) { answer in
          if answer.status == 413, !isPrunedForAPNs {
            let smaller = PushPayload(
              delivery.notification, badge: delivery.badge, reader: .apns,
              sizeLimit: payload.bytes.count / 2)
            if smaller != payload { return sendOnce(smaller, isPrunedForAPNs: true) }
          }
          var answer = answer
          answer.topic = topic
          answer.payload = payload.bytes
          completion(answer)
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
    self.init { _, completion in
      completion(
        PushAnswer(
          next: .refuseDevice(nil),
          reason: "APNs answered 400 DeviceTokenNotForTopic to an earlier push", reach: .notSent,
          topic: topic))
    }
    refusesDevice = true
  }
}
