import CloudKitModel
import StoreModel

/// The encoded notifications of one change, made on the thread that matched it. All writes wait for
/// the writer's thread, so that thread only puts them into rows.
struct PreparedNotifications: DispatchPreparation {
  struct Element: Sendable {
    let subscriber: String
    let firesOnce: Bool
    let raisesBadge: Bool
    let mergeKey: DeliveryMergeKey?
    /// The index in ``PreparedNotifications/changes`` of the change as this notification shows it.
    fileprivate let change: Int
    /// The end of its content in ``PreparedNotifications/bytes``; the content begins at the end of
    /// the previous one.
    fileprivate let end: Int
  }

  private(set) var elements: [Element] = []
  private var changes: [Change] = []
  private var bytes: [UInt8] = []

  /// - Parameter contentNumbers: a number for each firing, equal only for subscriptions that differ
  ///   only in their IDs; nil if unknown.
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
  func content(at place: Int) -> ArraySlice<UInt8> {
    bytes[(place == 0 ? 0 : elements[place - 1].end)..<elements[place].end]
  }

  /// The change with the fields that the subscription refers to.
  func change(at place: Int) -> Change { changes[elements[place].change] }

  /// The common part of subscriptions that differ only in their IDs.
  private struct SharedContent {
    var firesOnce: Bool
    var raisesBadge: Bool
    var change: Int
    /// The bytes after the ID in the log's content, without the version byte of a row.
    var content: ArraySlice<UInt8>
  }

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
