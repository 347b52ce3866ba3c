/// What servers that share a store send each other, so that none has to read the tables again and again. A
/// notification may be lost, so servers still read the tables now and then.
public enum ServerNotification: Sendable, Hashable {
  /// A server is registered, and its notifications arrive.
  case joined(ServerID)
  /// Another server has committed changes that this one is to dispatch.
  case wakeUp
  /// Another server announces something; nil when it is too long for a notification.
  case announced(AnnouncementName, Announcement?)
  /// Notifications may have been lost, and none come until there is another connection.
  case interrupted
}

/// What a server was woken up for: databases in which others have committed changes that it dispatches.
public struct WakeUps: Sendable, Hashable {
  /// What others have committed changes of, in no order.
  public var parts: [DatabasePart] = []
  /// Whether these are all. Where a commit is under way there may be more.
  public var isWhole = true

  public init(_ parts: [DatabasePart] = [], isWhole: Bool = true) {
    self.parts = parts
    self.isWhole = isWhole
  }
}
