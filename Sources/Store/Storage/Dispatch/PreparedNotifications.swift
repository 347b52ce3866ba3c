import CloudKitModel
import StoreModel

/// The encoded notifications of one change. All writes wait for the writing thread, so the
/// notifications are encoded before the write, and that thread only copies the bytes into rows. For
/// subscriptions that differ only in their IDs, everything except the ID is encoded once.
struct PreparedNotifications: Sendable {
  /// One notification.
  struct Element: Sendable {
    let subscriber: String
    let firesOnce: Bool
    let raisesBadge: Bool
    /// Nil if deliveries of the subscription are not merged.
    let mergeKey: DeliveryMergeKey?
    fileprivate let change: Int
    fileprivate let end: Int
  }

  /// In the order of the subscriptions that the change fires.
  private(set) var elements: [Element] = []
  /// Versions of the change, each with only the record fields to which some subscriptions refer.
  private var changes: [Change] = []
  private var bytes: [UInt8] = []

  /// Ends when they have `limit` bytes, but encodes at least the first one.
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

  var byteCount: Int { bytes.count }

  func content(at place: Int) -> ArraySlice<UInt8> {
    bytes[(place == 0 ? 0 : elements[place - 1].end)..<elements[place].end]
  }

  func change(at place: Int) -> Change { changes[elements[place].change] }

  /// The common part of the notifications whose subscriptions differ only in their IDs.
  private struct SharedContent {
    var firesOnce: Bool
    var raisesBadge: Bool
    var change: Int
    /// The log's content after the subscription's ID, without the row's first byte, its version.
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
