import CloudKitModel

// The content of a row of the notification log has four parts: the ID of the subscription, the
// other fields of the subscription, the change, and `NotificationMarks`. Database and subscriber
// are columns of their own. The four parts have no tags, because tags for them cost more than 5 %
// (docs/internals/store.md).

extension RowEncoder {
  /// Encodes the ID. Many subscriptions differ only in their IDs, so the dispatcher encodes the
  /// other parts of a change's notifications once for all of them.
  mutating func encodeNotificationHead(of subscriptionID: String) {
    encode(subscriptionID)
  }

  /// - Parameter carriesLastValues: whether a deleted record has the last values of the fields in
  ///   the subscription's desired keys.
  mutating func encodeNotificationRest(
    of subscription: inout Subscription, _ change: Change, carriesLastValues: Bool
  ) {
    encodeNested { $0.encodeFields(of: &subscription, only: Subscription.idTag.others) }
    encode(change)
    var marks = NotificationMarks(carriesLastValues: carriesLastValues)
    encodeFields(of: &marks)
    endFields()
  }
}

extension SubscriptionNotification {
  var storedContent: [UInt8] {
    var encoder = RowEncoder(reserving: 384)
    var subscription = subscription
    encoder.encodeNotificationHead(of: subscription.subscriptionID)
    encoder.encodeNotificationRest(
      of: &subscription, change, carriesLastValues: carriesLastValues)
    return encoder.bytes
  }

  init(stored content: [UInt8], database: DatabaseAddress, subscriber: String) throws {
    var decoder = try RowDecoder(content, of: "notification")
    var subscription = Subscription.blank
    subscription.subscriptionID = try decoder.decodeText()
    try decoder.decodeNested {
      try $0.decodeFields(
        into: &subscription, only: Subscription.idTag.others, isNested: true)
    }
    let change = try Change(from: &decoder)
    var marks = NotificationMarks.blank
    try decoder.decodeFields(into: &marks, isNested: false)
    try decoder.finish()
    self.init(
      database: database, subscriber: subscriber, subscription: subscription, change: change,
      carriesLastValues: marks.carriesLastValues)
  }
}

/// The fourth part of a notification.
private struct NotificationMarks: RowCodable {
  var carriesLastValues = false

  static let rowName: StaticString = "notification"
  static let blank = NotificationMarks()

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.field(1, "carriesLastValues", &carriesLastValues, default: false)
  }
}
