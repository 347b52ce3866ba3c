/// The notification of one subscription about one change. Pushes, entries of the notification log,
/// and messages of the web courier (the service that clients poll for notifications) have this
/// content.
///
/// The struct has only a reference to its properties, because notifications are copied often and
/// hardly ever changed. A copy of the properties themselves would have to retain about fifty
/// objects.
public struct SubscriptionNotification: Sendable, Hashable {
  /// The properties of a notification.
  private struct Content: Sendable, Hashable {
    var database: DatabaseAddress
    var subscriber: String
    var subscription: Subscription
    var change: Change
    var carriesLastValues: Bool
  }

  /// An immutable reference to the content. Several notifications may share it.
  private final class Box: Sendable {
    let content: Content

    init(_ content: Content) {
      self.content = content
    }
  }

  private var box: Box

  /// The database in which the change was made.
  public var database: DatabaseAddress {
    get { box.content.database }
    set { modify { $0.database = newValue } }
  }
  /// The user record name of the subscription's owner.
  public var subscriber: String {
    get { box.content.subscriber }
    set { modify { $0.subscriber = newValue } }
  }
  /// The subscription that fired.
  public var subscription: Subscription {
    get { box.content.subscription }
    set { modify { $0.subscription = newValue } }
  }
  /// The change on which the subscription fired.
  public var change: Change {
    get { box.content.change }
    set { modify { $0.change = newValue } }
  }
  /// Whether the notification of a deletion carries the record type and the last values of the
  /// desired keys. Apple's notifications never carry these values.
  public var carriesLastValues: Bool {
    get { box.content.carriesLastValues }
    set { modify { $0.carriesLastValues = newValue } }
  }

  /// Creates a notification.
  public init(
    database: DatabaseAddress, subscriber: String, subscription: Subscription, change: Change,
    carriesLastValues: Bool = false
  ) {
    box = Box(
      Content(
        database: database, subscriber: subscriber, subscription: subscription, change: change,
        carriesLastValues: carriesLastValues))
  }

  /// Changes a copy of the content and puts the copy into a new box. Other notifications keep the
  /// old content.
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

  /// Returns the notification with only the record fields that
  /// ``NotificationInfo/referencedFields`` names.
  ///
  /// A log of many notifications then does not contain many copies of a large record. Encrypted
  /// fields are left out, because notifications never carry them.
  public func trimmed() -> SubscriptionNotification {
    var trimmed = self
    trimmed.change = change.trimmed(for: subscription)
    return trimmed
  }
}

extension Change {
  /// Returns the change with only the record fields that ``SubscriptionNotification/trimmed()``
  /// keeps.
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
