/// That one subscription fired on one change: the content of an entry of the notification log, of
/// a push, and of a web courier message.
public struct SubscriptionNotification: Sendable, Hashable {
  public var database: DatabaseAddress
  /// The user record name of the subscription's owner.
  public var subscriber: String
  public var subscription: Subscription
  public var change: Change
  /// Whether the notification of a deletion carries the record type and the last values of the
  /// desired keys. Apple's do not.
  public var carriesLastValues: Bool

  public init(
    database: DatabaseAddress, subscriber: String, subscription: Subscription, change: Change,
    carriesLastValues: Bool = false
  ) {
    self.database = database
    self.subscriber = subscriber
    self.subscription = subscription
    self.change = change
    self.carriesLastValues = carriesLastValues
  }

  /// The same notification with only those fields of the record that its info refers to, so that a
  /// log of many notifications does not hold many copies of a large record. Encrypted fields are
  /// left out: notifications carry none.
  public func trimmed() -> SubscriptionNotification {
    var trimmed = self
    trimmed.change = change.trimmed(for: subscription)
    return trimmed
  }
}

extension Change {
  /// The change as ``SubscriptionNotification/trimmed()`` leaves it.
  public func trimmed(for subscription: Subscription) -> Change {
    var trimmed = self
    let needed = subscription.notificationInfo?.referencedFields ?? []
    let encrypted = record?.encryptedFields ?? []
    trimmed.record?.fields =
      record?.fields.filter { needed.contains($0.key) && !encrypted.contains($0.key) } ?? [:]
    trimmed.record?.encryptedFields = []
    return trimmed
  }
}
