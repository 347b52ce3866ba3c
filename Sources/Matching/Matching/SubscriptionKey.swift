/// The key of a subscription in a database: the user who saved it, and its ID.
///
/// Keys are compared by their UTF-8 bytes, as the store compares them. Two IDs that only look the
/// same (composed and decomposed accents) are different.
public struct SubscriptionKey: Sendable, CustomStringConvertible {
  /// The user record name of the owner.
  public let subscriber: String
  /// The ID of the subscription. Different users may use the same ID.
  public let subscriptionID: String

  /// Creates a key.
  public init(subscriber: String, subscriptionID: String) {
    self.subscriber = subscriber
    self.subscriptionID = subscriptionID
  }

  public var description: String { "\(subscriptionID) of \(subscriber)" }
}

extension SubscriptionKey: Hashable, Comparable {
  public static func == (left: SubscriptionKey, right: SubscriptionKey) -> Bool {
    left.subscriptionID.utf8.elementsEqual(right.subscriptionID.utf8)
      && left.subscriber.utf8.elementsEqual(right.subscriber.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    ByteText(subscriber).hash(into: &hasher)
    ByteText(subscriptionID).hash(into: &hasher)
  }

  /// Orders keys by subscriber, then by ID.
  public static func < (left: SubscriptionKey, right: SubscriptionKey) -> Bool {
    if left.subscriber.utf8.elementsEqual(right.subscriber.utf8) {
      return left.subscriptionID.utf8.lexicographicallyPrecedes(right.subscriptionID.utf8)
    }
    return left.subscriber.utf8.lexicographicallyPrecedes(right.subscriber.utf8)
  }
}
