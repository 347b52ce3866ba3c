import CloudKitModel
import StoreModel

/// The encoded notifications of one change, made on the thread that matched it.
///
/// All writes wait for the writer's thread. The encoding is therefore done before, and the writer's
/// thread only puts the bytes into rows. Subscriptions that differ only in their IDs share the
/// encoding of everything else.
struct PreparedNotifications: DispatchPreparation {
  /// One notification.
  struct Element: Sendable {
    /// The user who gets it.
    let subscriber: String
    /// Whether the subscription is deleted when it fires.
    let firesOnce: Bool
    /// Whether the notification raises the badges of the subscriber's devices.
    let raisesBadge: Bool
    /// The key by which deliveries merge; nil if they do not.
    let mergeKey: DeliveryMergeKey?
    /// The index in ``PreparedNotifications/changes`` of the change as this notification shows it.
    fileprivate let change: Int
    /// The end of its content in ``PreparedNotifications/bytes``; the content begins at the end of
    /// the previous one.
    fileprivate let end: Int
  }

  /// The notifications, in the order of the firings.
  private(set) var elements: [Element] = []
  /// The different versions of the change: each has the fields that some of the subscriptions refer
  /// to.
  private var changes: [Change] = []
  /// The contents of all notifications, one after the other.
  private var bytes: [UInt8] = []

  /// Encodes the notifications of a change.
  ///
  /// - Parameters:
  ///   - change: the committed change.
  ///   - firings: the subscriptions that it fires.
  ///   - contentNumbers: a number for each firing, equal only for subscriptions that differ only in
  ///     their IDs; nil if unknown.
  ///   - carriesLastValues: whether notifications of a deletion carry the last values of the
  ///     desired keys.
  init(
    of change: Change, for firings: [StoredSubscription], contentNumbers: [UInt64]?,
    carriesLastValues: Bool
  ) {
    var known: [UInt64: SharedContent] = [:]
    elements.reserveCapacity(firings.count)
    for (place, firing) in firings.enumerated() {
      let number = contentNumbers?[place]
      let shared =
        number.flatMap { known[$0] }
        ?? makeContent(of: firing.subscription, change, carriesLastValues: carriesLastValues)
      if let number { known[number] = shared }
      if bytes.isEmpty { bytes.reserveCapacity((shared.content.count + 32) * firings.count) }
      var head = RowEncoder(reserving: 64)
      head.encodeNotificationHead(of: firing.subscription.subscriptionID)
      bytes += head.bytes
      bytes += shared.content
      elements.append(
        Element(
          subscriber: firing.subscriber, firesOnce: shared.firesOnce,
          raisesBadge: shared.raisesBadge,
          mergeKey: DeliveryMergeKey(firing.subscription), change: shared.change, end: bytes.count))
    }
  }

  /// The log's content for a notification (``SubscriptionNotification/storedContent``).
  ///
  /// - Parameter place: the index of the firing.
  func content(at place: Int) -> ArraySlice<UInt8> {
    bytes[(place == 0 ? 0 : elements[place - 1].end)..<elements[place].end]
  }

  /// The change with the fields that the subscription refers to.
  ///
  /// - Parameter place: the index of the firing.
  func change(at place: Int) -> Change { changes[elements[place].change] }

  /// The common part of subscriptions that differ only in their IDs.
  private struct SharedContent {
    var firesOnce: Bool
    var raisesBadge: Bool
    /// The index of the change in ``PreparedNotifications/changes``.
    var change: Int
    /// The bytes after the ID in the log's content, without the version byte of a row.
    var content: ArraySlice<UInt8>
  }

  /// Encodes everything of a notification except the subscription's ID.
  private mutating func makeContent(
    of subscription: Subscription, _ change: Change, carriesLastValues: Bool
  ) -> SharedContent {
    let trimmed = change.trimmed(for: subscription)
    let place = changes.firstIndex(of: trimmed) ?? changes.count
    if place == changes.count { changes.append(trimmed) }
    var encoder = RowEncoder(reserving: 256)
    var subscription = subscription
    encoder.encodeNotificationRest(
      of: &subscription, trimmed, carriesLastValues: carriesLastValues)
    return SharedContent(
      firesOnce: subscription.firesOnce,
      raisesBadge: subscription.notificationInfo?.shouldBadge == true, change: place,
      content: encoder.bytes.dropFirst())
  }
}
