import CloudKitModel

/// A subscription that fires on a change.
public struct SubscriptionMatch: Sendable {
  /// The key of the subscription.
  public let key: SubscriptionKey
  /// The subscription as it was inserted, with the ID of the key.
  public let subscription: Subscription
  /// The version that the subscription was inserted with.
  public let version: Int64
  /// The number of the subscription's content: its kind and notification info.
  ///
  /// Subscriptions that differ only in key and version have the same number. A number is valid
  /// until the index changes.
  public let contentNumber: UInt64
}
