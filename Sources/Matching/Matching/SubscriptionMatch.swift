import CloudKitModel

/// That a subscription fires on a change.
public struct SubscriptionMatch: Sendable {
  public let key: SubscriptionKey
  /// As it was inserted.
  public let subscription: Subscription
  /// The version it was inserted with.
  public let version: Int64
  /// The same for subscriptions that differ in nothing but their keys and versions, until the index
  /// changes.
  public let contentNumber: UInt64
}
