import CloudKitModel

extension SubscriptionNotification {
  /// What a log row keeps: all but the database and the subscriber, which have columns.
  var storedContent: [UInt8] {
    var encoder = RowEncoder(reserving: 384)
    encoder.encode(subscription)
    encoder.encode(change)
    // Rows from before there was this mark end here.
    if carriesLastValues { encoder.encode(true) }
    return encoder.bytes
  }

  init(stored content: [UInt8], database: DatabaseAddress, subscriber: String) throws {
    var decoder = try RowDecoder(content, of: "notification")
    let subscription = try decoder.decodeSubscription()
    let change = try decoder.decodeChange()
    let carriesLastValues = !decoder.isAtEnd
    if carriesLastValues {
      guard try decoder.decodeFlag() else { throw decoder.damaged("is longer than its content") }
    }
    try decoder.finish()
    self.init(
      database: database, subscriber: subscriber, subscription: subscription, change: change,
      carriesLastValues: carriesLastValues)
  }
}
