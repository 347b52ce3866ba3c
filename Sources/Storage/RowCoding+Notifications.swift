import CloudKitModel

extension SubscriptionNotification {
  /// What a log row keeps: all but the database and the subscriber, which have columns.
  var storedContent: [UInt8] {
    var encoder = RowEncoder(reserving: 384)
    encoder.encode(subscription)
    encoder.encode(change)
    return encoder.bytes
  }

  init(stored content: [UInt8], database: DatabaseAddress, subscriber: String) throws {
    var decoder = try RowDecoder(content, of: "notification")
    self.init(
      database: database, subscriber: subscriber, subscription: try decoder.decodeSubscription(),
      change: try decoder.decodeChange())
    try decoder.finish()
  }
}
