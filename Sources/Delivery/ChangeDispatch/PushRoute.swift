import CloudKitModel
import PushDelivery
import StoreModel

/// The way to devices: what sends a delivery.
public struct PushRoute: Sendable {
  /// What came of an attempt.
  public struct Report: Sendable {
    /// How far it came.
    public enum Reach: Sendable, Hashable {
      /// The service answered.
      case answered
      /// It was sent, and no answer came.
      case unanswered
      /// The service never had it, so that it is no attempt yet.
      case notSent
    }

    public var outcome: DeliveryOutcome
    /// What was answered, or what happened, for people.
    public var text: String
    public var reach: Reach
    /// What was sent, for an outcome that is a fault of ours.
    public var payload: [UInt8]

    public init(outcome: DeliveryOutcome, text: String, reach: Reach, payload: [UInt8]) {
      self.outcome = outcome
      self.text = text
      self.reach = reach
      self.payload = payload
    }
  }

  /// Sends a delivery and calls back once with what came of it; must not block.
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

  /// The way to the devices of one app through APNs. A push that is too large by APNs' word is pruned
  /// to half the size and sent once more, never the same bytes.
  ///
  /// - Parameters:
  ///   - topic: `apns-topic`, normally the app's bundle ID.
  ///   - send: sends a push and calls back once with what came of it; must not block.
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
              delivery.notification, badge: delivery.badge, form: .apns,
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
        PushPayload(delivery.notification, badge: delivery.badge, form: .apns),
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
  /// When it has lost its worth and is not sent any more.
  var expiration: Timestamp {
    let isHighPriority = notification.subscription.notificationInfo?.isHighPriority == true
    // A program is not woken by a notification that it missed: it is told late rather than never.
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
