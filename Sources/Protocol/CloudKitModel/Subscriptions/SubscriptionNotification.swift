/// That one subscription fired on one change: the content of an entry of the notification log, of
/// a push, and of a web courier message.
///
/// It goes through many hands on its way, as a part of larger values, and hardly ever changes: so it is
/// one reference, where to copy it otherwise counted some fifty.
public struct SubscriptionNotification: Sendable, Hashable {
  private struct Content: Sendable, Hashable {
    var database: DatabaseAddress
    var subscriber: String
    var subscription: Subscription
    var change: Change
    var carriesLastValues: Bool
  }

  private final class Box: Sendable {
    let content: Content

    init(_ content: Content) {
      self.content = content
    }
  }

  private var box: Box

  public var database: DatabaseAddress {
    get { box.content.database }
    set { modify { $0.database = newValue } }
  }
  /// The user record name of the subscription's owner.
  public var subscriber: String {
    get { box.content.subscriber }
    set { modify { $0.subscriber = newValue } }
  }
  public var subscription: Subscription {
    get { box.content.subscription }
    set { modify { $0.subscription = newValue } }
  }
  public var change: Change {
    get { box.content.change }
    set { modify { $0.change = newValue } }
  }
  /// Whether the notification of a deletion carries the record type and the last values of the
  /// desired keys. Apple's do not.
  public var carriesLastValues: Bool {
    get { box.content.carriesLastValues }
    set { modify { $0.carriesLastValues = newValue } }
  }

  public init(
    database: DatabaseAddress, subscriber: String, subscription: Subscription, change: Change,
    carriesLastValues: Bool = false
  ) {
    box = Box(
      Content(
        database: database, subscriber: subscriber, subscription: subscription, change: change,
        carriesLastValues: carriesLastValues))
  }

  private mutating func modify(_ body: (inout Content) -> Void) {
    var content = box.content
    body(&content)
    box = Box(content)
  }

  public static func == (left: SubscriptionNotification, right: SubscriptionNotification) -> Bool {
    left.box === right.box || left.box.content == right.box.content
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(box.content)
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
