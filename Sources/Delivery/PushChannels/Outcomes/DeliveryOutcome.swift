import CloudKitModel

/// The outcome of an attempt to deliver a push. It says what the server does next.
public enum DeliveryOutcome: Sendable, Hashable {
  /// The pushes that a delay before a retry concerns.
  public enum RetryScope: Sendable, Hashable {
    /// This push alone. Other pushes are sent without the delay.
    case push
    /// All pushes to the device.
    case device
    /// All pushes of the route (``PushRoute``), such as those of one container in one APNs
    /// environment.
    case route
  }

  /// The pushes that cannot be delivered until an administrator has repaired the configuration.
  public enum SuspensionScope: Sendable, Hashable {
    /// The pushes of one topic, which is one app.
    case topic
    /// All pushes that are sent with the same key or certificate.
    case route
  }

  /// The service accepted the push.
  case delivered
  /// The device token is not valid for the topic, or the device is gone.
  /// ``drops(tokenRegistered:)`` says whether to remove the token.
  ///
  /// `invalidSince` is the time at which APNs last found the token invalid; `nil` if the answer has
  /// no time.
  case dropDeviceToken(invalidSince: Timestamp?)
  /// The service refuses this sender's pushes to the device, although the device may exist. Keep the
  /// registration with a note of the refusal. Send the push again after this many seconds; never if they
  /// are `nil`.
  case refuseDevice(retryAfter: Double?)
  /// Send the push again, with the same identifier, after this many seconds, unless the push
  /// expires before.
  case retry(after: Double, RetryScope)
  /// Send the push again with a new provider token.
  case refreshProviderToken
  /// No push in the scope can be delivered until an administrator acts on the message.
  case suspend(SuspensionScope, message: String)
  /// The push will never be accepted, because of a fault in Petrel or of the endpoint. Do not send
  /// it again.
  case fault(message: String)

  /// Whether to remove a token that was last registered at `registration`. False for all outcomes
  /// except ``dropDeviceToken(invalidSince:)``.
  ///
  /// A token that was registered at or after `invalidSince` is valid again and stays. If
  /// `invalidSince` is `nil`, the token is removed. (Apple, *Handling notification responses from
  /// APNs*.)
  public func drops(tokenRegistered registration: Timestamp) -> Bool {
    guard case .dropDeviceToken(let invalidSince) = self else { return false }
    return invalidSince.map { registration < $0 } ?? true
  }
}
