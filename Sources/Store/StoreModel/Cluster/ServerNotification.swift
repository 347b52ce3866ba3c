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

/// The reasons of a wake-up: other servers committed changes that this server dispatches.
public struct WakeUps: Sendable, Hashable {
  /// The databases and parts with such changes, in no order.
  public var parts: [DatabasePart] = []
  /// Whether the list is complete. A commit under way may add more.
  public var isWhole = true

  public init(_ parts: [DatabasePart] = [], isWhole: Bool = true) {
    self.parts = parts
    self.isWhole = isWhole
  }
}
