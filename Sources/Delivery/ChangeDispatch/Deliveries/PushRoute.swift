import CloudKitModel
import PushChannels
import StoreModel

/// A channel to devices that sends deliveries.
public struct PushRoute: Sendable {
  /// The result of an attempt.
  public struct Report: Sendable {
    /// How far the push went.
    public enum Reach: Sendable, Hashable {
      /// The service answered.
      case answered
      /// The push was sent, and no answer came.
      case unanswered
      /// The service did not get the push, so this does not count as an attempt.
      case notSent
    }

    public var outcome: DeliveryOutcome
    /// The answer, or what happened, for people.
    public var text: String
    public var reach: Reach
    /// The sent payload, for an outcome caused by a fault in Petrel.
    public var payload: [UInt8]

    public init(outcome: DeliveryOutcome, text: String, reach: Reach, payload: [UInt8]) {
      self.outcome = outcome
      self.text = text
      self.reach = reach
      self.payload = payload
    }
  }

  /// Sends a delivery and calls back once with the result; must not block.
  public var send:
    @Sendable (Delivery, DeliveryAttempt, @escaping @Sendable (Report) -> Void) -> Void

  public init(
    send:
      @escaping @Sendable (
        Delivery, DeliveryAttempt, @escaping @Sendable (Report) -> Void
      ) -> Void
  ) {
    self.send = send
  }

  /// The route to the devices of one app through APNs. A push that APNs reports as too large is
  /// pruned to half the size and sent once more; the same bytes are never repeated.
  ///
  /// - Parameters:
  ///   - topic: `apns-topic`, normally the app's bundle ID.
  ///   - send: sends a push and calls back once with the result; must not block.
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
              text: "\(result)", reach: result.reach, payload: payload.bytes))
        }
      }
      sendOnce(
        PushPayload(delivery.notification, badge: delivery.badge, reader: .apns),
        isPrunedForAPNs: false)
    }
  }
}

extension APNsResult {
  fileprivate var saysTooLarge: Bool {
    if case .answered(413, _, _, _, _) = self { true } else { false }
  }

  fileprivate var reach: PushRoute.Report.Reach {
    switch self {
    case .answered: .answered
    case .unknown: .unanswered
    case .notSent: .notSent
    }
  }
}

extension Delivery {
  /// When the delivery expires and is not sent any more.
  var expiration: Timestamp {
    let isHighPriority = notification.subscription.notificationInfo?.isHighPriority == true
    // A webhook gets no later wake-up for a missed notification, so a late one is better than none.
    let kind = isHighPriority || device.kind == .webhook ? Push.Kind.alert : .background
    return logged.advanced(bySeconds: kind.lifetime)
  }

  var mergeKey: DeliveryMergeKey? {
    device.kind.mergesDeliveries ? DeliveryMergeKey(notification.subscription) : nil
  }
}

extension DeviceToken {
  /// Why nothing is sent to the device, for people.
  var lackOfRoute: String {
    switch kind {
    case .apns:
      "container '\(container)' is not set up for APNs (\(apnsEnvironment.rawValue))"
    case .webPush: "Web Push is not set up here"
    case .webhook: "webhooks are not set up here"
    case .courier: "a reader of the web courier is sent nothing"
    }
  }
}
