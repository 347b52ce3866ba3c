import CloudKitModel
import StoreModel

/// The answer to one attempt to send a push: what the server does next, the reason for people, and
/// what the store keeps.
///
/// A channel makes the value from what the service said (``PushAnswerRules``). The value goes
/// unchanged to the worker that stores the outcome. ``PushRetryPolicy`` says when the next attempt
/// follows.
public struct PushAnswer: Sendable, Hashable {
  /// The next step for the push, its device or its route.
  public enum Next: Sendable, Hashable {
    /// Nothing: the service accepted the push.
    case done
    /// Send the push again, with the same identifier, unless it expires before. The pushes in the
    /// scope wait as long.
    case retry(PushRetryPolicy, RetryScope)
    /// Remove the device: its token or endpoint is not valid.
    case dropDevice
    /// Keep the device with a note of the refusal: the service refuses this sender's pushes to it,
    /// although the device may exist. Send the push again by the policy; never if it is `nil`.
    case refuseDevice(PushRetryPolicy?)
    /// Never send the push again: it has a fault of Petrel or of the endpoint.
    case fault
  }

  /// The pushes that wait until the next attempt.
  public enum RetryScope: Sendable, Hashable {
    case push
    /// All pushes to the device.
    case device
    /// All pushes of the route (``PushRoute``).
    case route
  }

  /// How far a push came on its way to the device.
  public enum Reach: Sendable, Hashable {
    /// The service answered. The web channels also use this value if a request failed without an
    /// answer, or if a delivery cannot be sent at all.
    case answered
    /// The push was sent, but no answer came. The service may have accepted it.
    case unanswered
    /// The service certainly did not get the push. This attempt is not counted.
    case notSent
  }

  public var next: Next
  /// The answer or the failure, for the log and for administrators. Empty if the service accepted
  /// the push, because the text would cost more than all else that is done with the answer.
  public var reason: String
  /// How far the push came.
  public var reach = Reach.answered
  /// The HTTP status; `nil` without an answer.
  public var status: Int?
  /// The `reason` of APNs, such as `BadDeviceToken`; `nil` if there is none.
  public var code: String?
  /// The time at which APNs last found the token invalid. A token that was registered at or after
  /// this time is valid again (Apple, *Handling notification responses from APNs*).
  public var invalidSince: Timestamp?
  /// The seconds that the service asked to wait; `nil` if it asked for none.
  public var retryAfter: Double?
  /// The topic that the push named to APNs; `nil` for the other channels.
  public var topic: String?
  /// The payload that was sent, as UTF-8 JSON. The store keeps the payload of a ``Next/fault``.
  public var payload: [UInt8] = []

  /// The answer for a push that the service did not process. If the server repeats the push, the
  /// device cannot show it twice.
  public static func notSent(_ cause: String) -> PushAnswer {
    PushAnswer(
      next: .retry(.reconnect, .push), reason: "not sent: \(cause)", reach: .notSent)
  }

  /// The answer for a push that was sent before the connection was lost or the time was over. A
  /// repeated push may be shown twice; a push that is not repeated may be lost. Petrel repeats it.
  public static func unanswered(_ cause: String) -> PushAnswer {
    PushAnswer(
      next: .retry(.reconnect, .push), reason: "no answer: \(cause)", reach: .unanswered)
  }

  /// The answer for a delivery that cannot be sent, such as after a change of the configuration.
  static func unsendable(_ delivery: Delivery, _ cause: String) -> PushAnswer {
    PushAnswer(
      next: .fault, reason: cause,
      payload: PushPayload(delivery.notification, badge: delivery.badge, reader: .courier).bytes)
  }
}
