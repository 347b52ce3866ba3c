/// A subscription from its save on. None is deleted by its owner.
public struct Subscribing: Codable, Sendable {
  public var user: String
  /// Unique among all users.
  public var id: String
  public var span: Span
  /// The topic of the subscription: writes with this topic fire it.
  public var topic: String
  public var firesOnce: Bool

  public init(user: String, id: String, span: Span, topic: String, firesOnce: Bool = false) {
    self.user = user
    self.id = id
    self.span = span
    self.topic = topic
    self.firesOnce = firesOnce
  }
}

/// A line of a user's notification log.
public struct LogEntry: Codable, Hashable, Sendable {
  public var notificationID: String
  public var subscriptionID: String
  public var key: RecordKey
  /// The mark in the record that the notification is about; `nil` for a deletion.
  public var mark: String?

  public init(notificationID: String, subscriptionID: String, key: RecordKey, mark: String?) {
    self.notificationID = notificationID
    self.subscriptionID = subscriptionID
    self.key = key
    self.mark = mark
  }
}

/// A reading of a user's notification log to its end.
public struct LogReading: Codable, Sendable {
  public var user: String
  public var reader: String
  public var span: Span
  /// Whether it went on from the token of the reader's last reading.
  public var continues: Bool
  /// Whether it is of the whole log after all was quiet.
  public var isLast: Bool
  public var entries: [LogEntry]

  public init(
    user: String, reader: String, span: Span, continues: Bool, isLast: Bool = false,
    entries: [LogEntry]
  ) {
    self.user = user
    self.reader = reader
    self.span = span
    self.continues = continues
    self.isLast = isLast
    self.entries = entries
  }
}

/// A device that is registered for pushes.
public struct DeviceRegistration: Codable, Sendable {
  public var user: String
  public var device: String
  public var token: String
  public var span: Span

  public init(user: String, device: String, token: String, span: Span) {
    self.user = user
    self.device = device
    self.token = token
    self.span = span
  }
}

/// A push that came to APNs.
public struct PushReceipt: Codable, Sendable {
  public var token: String
  public var apnsID: String
  public var notificationID: String
  public var subscriptionID: String
  public var isAccepted: Bool

  public init(
    token: String, apnsID: String, notificationID: String, subscriptionID: String,
    isAccepted: Bool
  ) {
    self.token = token
    self.apnsID = apnsID
    self.notificationID = notificationID
    self.subscriptionID = subscriptionID
    self.isAccepted = isAccepted
  }
}
