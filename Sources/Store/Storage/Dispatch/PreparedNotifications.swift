import CloudKitModel
import StoreModel

/// What the store needs of the notifications of one change, made ready where the change is matched:
/// the thread that writes, for which everybody waits, only puts it into rows.
struct PreparedNotifications: DispatchPreparation {
  struct Element: Sendable {
    let subscriber: String
    let firesOnce: Bool
    let raisesBadge: Bool
    let mergeKey: DeliveryMergeKey?
    /// Where in ``PreparedNotifications/changes`` the change is as this notification has it.
    fileprivate let change: Int
    /// Where in ``PreparedNotifications/bytes`` its content ends; it begins where the one before ends.
    fileprivate let end: Int
  }

  private(set) var elements: [Element] = []
  private var changes: [Change] = []
  private var bytes: [UInt8] = []

  /// - Parameter forms: for each firing a number, the same only for subscriptions that differ in
  ///   nothing but their IDs; nil when that is not known.
  init(
    of change: Change, for firings: [StoredSubscription], forms: [UInt64]?, carriesLastValues: Bool
  ) {
    var known: [UInt64: Form] = [:]
    elements.reserveCapacity(firings.count)
    for (place, firing) in firings.enumerated() {
      let number = forms?[place]
      let form =
        number.flatMap { known[$0] }
        ?? makeForm(of: firing.subscription, change, carriesLastValues: carriesLastValues)
      if let number { known[number] = form }
      if bytes.isEmpty { bytes.reserveCapacity((form.content.count + 32) * firings.count) }
      var head = RowEncoder(reserving: 64)
      head.encodeNotificationHead(of: firing.subscription.subscriptionID)
      bytes += head.bytes
      bytes += form.content
      elements.append(
        Element(
          subscriber: firing.subscriber, firesOnce: form.firesOnce, raisesBadge: form.raisesBadge,
          mergeKey: DeliveryMergeKey(firing.subscription), change: form.change, end: bytes.count))
    }
  }

  /// What the log keeps of a notification (``SubscriptionNotification/storedContent``).
  func content(at place: Int) -> ArraySlice<UInt8> {
    bytes[(place == 0 ? 0 : elements[place - 1].end)..<elements[place].end]
  }

  /// The change with the fields that the subscription refers to.
  func change(at place: Int) -> Change { changes[elements[place].change] }

  /// What subscriptions have in common that differ in nothing but their IDs.
  private struct Form {
    var firesOnce: Bool
    var raisesBadge: Bool
    var change: Int
    /// What comes after the ID in the content of the log, without the version of a row.
    var content: ArraySlice<UInt8>
  }

  private mutating func makeForm(
    of subscription: Subscription, _ change: Change, carriesLastValues: Bool
  ) -> Form {
    let trimmed = change.trimmed(for: subscription)
    let place = changes.firstIndex(of: trimmed) ?? changes.count
    if place == changes.count { changes.append(trimmed) }
    var encoder = RowEncoder(reserving: 256)
    var subscription = subscription
    encoder.encodeNotificationRest(
      of: &subscription, trimmed, carriesLastValues: carriesLastValues)
    return Form(
      firesOnce: subscription.firesOnce,
      raisesBadge: subscription.notificationInfo?.shouldBadge == true, change: place,
      content: encoder.bytes.dropFirst())
  }
}
