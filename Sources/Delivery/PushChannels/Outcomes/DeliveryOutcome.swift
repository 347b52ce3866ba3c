import CloudKitModel

/// The outcome of an attempt to deliver a push: the next step.
public enum DeliveryOutcome: Sendable, Hashable {
  /// The scope of a delay.
  public enum RetryScope: Sendable, Hashable {
    /// This push alone. Others may continue, over another connection if necessary.
    case push
    /// All pushes for the device. The worker should merge those that wait.
    case device
    /// All pushes of the route: one team's key in one environment.
    case route
  }

  /// The scope that stops until an administrator has repaired the configuration.
  public enum SuspensionScope: Sendable, Hashable {
    /// The pushes of one topic, which is one app.
    case topic
    /// All pushes that are sent with the key.
    case route
  }

  /// The service accepted the push.
  case delivered
  /// The device token does not belong to the topic, or no longer does. ``drops(tokenRegistered:)``
  /// decides whether to remove it.
  ///
  /// `invalidSince` is the time at which APNs last knew the token to be invalid; `nil` if APNs gave
  /// none.
  case dropDeviceToken(invalidSince: Timestamp?)
  /// Send the push again, with the same `apns-id`, after this many seconds, unless it expires
  /// before.
  case retry(after: Double, RetryScope)
  /// Send the push again with a new provider token.
  case refreshProviderToken
  /// Nothing can be delivered until an administrator acts on the message.
  case suspend(SuspensionScope, message: String)
  /// A fault in Petrel. The same bytes will never be accepted, so the push is abandoned.
  case fault(message: String)

  /// Whether to remove a token that was last registered at `registration`.
  ///
  /// A token that was registered after the answer's timestamp is valid again and stays. Without a
  /// timestamp, the token is removed. (Apple, *Handling notification responses from APNs*.)
  public func drops(tokenRegistered registration: Timestamp) -> Bool {
    guard case .dropDeviceToken(let invalidSince) = self else { return false }
    return invalidSince.map { registration < $0 } ?? true
  }
}
