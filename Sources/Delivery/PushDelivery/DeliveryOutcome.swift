import CloudKitModel

/// What becomes of a push after a try to deliver it.
public enum DeliveryOutcome: Sendable, Hashable {
  /// Whom a delay concerns.
  public enum RetryScope: Sendable, Hashable {
    /// This push alone; others may go on, over another connection if need be.
    case push
    /// All pushes for the device: those that wait should become one.
    case device
    /// All pushes of the route (one team's key in one environment).
    case route
  }

  /// What stands still until an operator has mended the configuration.
  public enum SuspensionScope: Sendable, Hashable {
    /// The pushes of one topic, that is, of one app.
    case topic
    /// All pushes that are sent with the key.
    case route
  }

  /// APNs accepted it.
  case delivered
  /// The device token is no longer, or never was, one of the topic. See
  /// ``drops(tokenRegistered:)`` for whether to remove it.
  case dropDeviceToken(invalidSince: Timestamp?)
  /// To be sent again, with the same `apns-id`, after so many seconds, unless it has expired by
  /// then.
  case retry(after: Double, RetryScope)
  /// To be sent again with a new provider token.
  case refreshProviderToken
  /// Nothing can be delivered until somebody acts on the message.
  case suspend(SuspensionScope, message: String)
  /// A fault of ours; the same bytes will never be accepted, so the push is given up.
  case fault(message: String)

  /// Whether a token that was last registered at `registration` is to be removed.
  ///
  /// The answer's timestamp says when APNs last knew the token to be invalid: a token that was
  /// registered after it is a new beginning and stays. (Apple, *Handling notification responses
  /// from APNs*.)
  public func drops(tokenRegistered registration: Timestamp) -> Bool {
    guard case .dropDeviceToken(let invalidSince) = self else { return false }
    return invalidSince.map { registration < $0 } ?? true
  }
}
