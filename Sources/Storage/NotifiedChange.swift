import CloudKitModel

/// A change as notifications have it: with the fields of the record that each refers to, encoded once
/// for all that refer to the same.
struct NotifiedChange {
  let database: DatabaseAddress
  let change: Change
  let carriesLastValues: Bool
  private var copies: [Set<String>: Copy] = [:]

  /// The change with some fields, and its encoding.
  private struct Copy {
    var change: Change
    var content: ArraySlice<UInt8>
  }

  init(_ change: Change, in database: DatabaseAddress, carriesLastValues: Bool) {
    self.change = change
    self.database = database
    self.carriesLastValues = carriesLastValues
  }

  /// The notification for a subscription, trimmed, with what the log keeps of it
  /// (``CloudKitModel/SubscriptionNotification/storedContent``).
  mutating func notification(
    for firing: StoredSubscription
  ) -> (notification: SubscriptionNotification, content: [UInt8]) {
    let fields = firing.subscription.notificationInfo?.referencedFields ?? []
    let copy = copies[fields] ?? makeCopy(with: fields, for: firing)
    var encoder = RowEncoder(reserving: 192 + copy.content.count)
    encoder.encode(firing.subscription)
    encoder.append(encoded: copy.content)
    return (
      SubscriptionNotification(
        database: database, subscriber: firing.subscriber, subscription: firing.subscription,
        change: copy.change, carriesLastValues: carriesLastValues), encoder.bytes
    )
  }

  private mutating func makeCopy(
    with fields: Set<String>, for firing: StoredSubscription
  ) -> Copy {
    let notification = SubscriptionNotification(
      database: database, subscriber: firing.subscriber, subscription: firing.subscription,
      change: change, carriesLastValues: carriesLastValues
    ).trimmed()
    // What the subscription takes comes first, and is encoded as it is by itself.
    let start = firing.subscription.storedContent.count
    let copy = Copy(
      change: notification.change, content: notification.storedContent[start...])
    copies[fields] = copy
    return copy
  }
}
