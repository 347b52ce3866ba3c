import CloudKitModel
import StoreModel

/// The encoded notifications of one change.
///
/// All writes wait for the writing thread. Therefore the dispatcher encodes the notifications
/// before the write, and the writing thread only copies the bytes into rows. For subscriptions that
/// differ only in their IDs, everything except the ID is encoded once.
struct PreparedNotifications: Sendable {
  /// One notification.
  struct Element: Sendable {
    /// The record name of the user who gets the notification.
    let subscriber: String
    /// Whether the subscription is deleted when it fires.
    let firesOnce: Bool
    /// Whether the notification raises the badges of the subscriber's devices.
    let raisesBadge: Bool
    /// The key by which a newer delivery can replace an older one; nil if deliveries of the
    /// subscription are not merged.
    let mergeKey: DeliveryMergeKey?
    /// The index in ``PreparedNotifications/changes`` of the version that this notification has.
    fileprivate let change: Int
    /// The end of the notification's content in ``PreparedNotifications/bytes``. The content begins
    /// at the end of the previous notification's content.
    fileprivate let end: Int
  }

  /// The notifications, in the order of the subscriptions that the change fires.
  private(set) var elements: [Element] = []
  /// The different versions of the change. Each version has only the record fields to which some of
  /// the subscriptions refer.
  private var changes: [Change] = []
  /// The contents of all notifications, one after the other.
  private var bytes: [UInt8] = []

  /// Encodes the notifications of a change.
  ///
  /// - Parameters:
  ///   - change: the committed change.
  ///   - firings: the subscriptions that the change fires.
  ///   - contentNumbers: a number for each subscription of `firings`; two numbers are equal only if
  ///     the subscriptions differ only in their IDs. Nil if the numbers are unknown.
  ///   - carriesLastValues: whether a notification of a deleted record has the last values of the
  ///     subscription's desired keys.
  ///   - limit: the number of bytes after which no further notification is encoded. The first one
  ///     is always encoded.
  init(
    of change: Change, for firings: [StoredSubscription], contentNumbers: [UInt64]?,
    carriesLastValues: Bool, within limit: Int = .max
  ) {
    var known: [UInt64: SharedContent] = [:]
    elements.reserveCapacity(firings.count)
    for (place, firing) in firings.enumerated() {
      let number = contentNumbers?[place]
      let shared =
        number.flatMap { known[$0] }
        ?? makeContent(of: firing.subscription, change, carriesLastValues: carriesLastValues)
      if let number { known[number] = shared }
      if bytes.isEmpty {
        let each = shared.content.count + 32
        bytes.reserveCapacity(min(each * firings.count, max(each, min(limit, 1 << 20))))
      }
      var head = RowEncoder(reserving: 64)
      head.encodeNotificationHead(of: firing.subscription.subscriptionID)
      bytes += head.bytes
      bytes += shared.content
      elements.append(
        Element(
          subscriber: firing.subscriber, firesOnce: shared.firesOnce,
          raisesBadge: shared.raisesBadge,
          mergeKey: DeliveryMergeKey(firing.subscription), change: shared.change, end: bytes.count))
      if bytes.count >= limit { break }
    }
  }

  /// The size of the encoded notifications in bytes.
  var byteCount: Int { bytes.count }

  /// Returns the content of a notification's log entry (`SubscriptionNotification.storedContent`).
  ///
  /// - Parameter place: the index of the notification in ``elements``.
  func content(at place: Int) -> ArraySlice<UInt8> {
    bytes[(place == 0 ? 0 : elements[place - 1].end)..<elements[place].end]
  }

  /// Returns the change with only the record fields to which the notification's subscription
  /// refers.
  ///
  /// - Parameter place: the index of the notification in ``elements``.
  func change(at place: Int) -> Change { changes[elements[place].change] }

  /// The common part of the notifications whose subscriptions differ only in their IDs.
  private struct SharedContent {
    var firesOnce: Bool
    var raisesBadge: Bool
    /// The index of the change in ``PreparedNotifications/changes``.
    var change: Int
    /// The bytes of the log's content that follow the subscription's ID. The first byte of an
    /// encoded row, its version, is left out.
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
