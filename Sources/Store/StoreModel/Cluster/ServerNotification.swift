/// A notification between servers that share a store. It spares them from reading the tables all
/// the time. A notification may be lost, so servers still read the tables from time to time.
public enum ServerNotification: Sendable, Hashable {
  /// A server is registered and receives notifications.
  case joined(ServerID)
  /// Another server has committed changes that this one is to dispatch.
  case wakeUp
  /// Another server's announcement; nil if it was too long for a notification.
  case announced(AnnouncementName, Announcement?)
  /// Notifications may have been lost, and none arrive until there is a new connection.
  case interrupted
}

/// The databases in which other servers committed changes that this server has to dispatch.
public struct WakeUps: Sendable, Hashable {
  /// The databases and parts with such changes, in no order.
  public var parts: [DatabasePart] = []
  /// Whether the list is complete. A commit under way may add more.
  public var isWhole = true

  /// Creates a list of parts, which is complete unless `isWhole` is false.
  public init(_ parts: [DatabasePart] = [], isWhole: Bool = true) {
    self.parts = parts
    self.isWhole = isWhole
  }
}
