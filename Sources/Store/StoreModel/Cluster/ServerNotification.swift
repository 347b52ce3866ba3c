/// A notification between servers that share a store. Because of notifications, servers read the
/// store's tables less often. A notification may be lost, so servers still read the tables from
/// time to time.
public enum ServerNotification: Sendable, Hashable {
  /// A server has registered and listens to notifications.
  case joined(ServerID)
  /// Another process has committed changes that this server must dispatch.
  case wakeUp
  /// Another server has made an announcement. The second value is nil if the announcement is too
  /// long for a notification; the server then reads it in the table.
  case announced(AnnouncementName, Announcement?)
  /// The connection for notifications was lost. Some may be missing, and none arrive until there is
  /// a new connection.
  case interrupted
}

/// The databases and parts in which other processes have committed changes that this server must
/// dispatch.
public struct WakeUps: Sendable, Hashable {
  /// The databases and parts with such changes, in no order.
  public var parts: [DatabasePart] = []
  /// Whether the list has all parts that were marked. False means that a commit had locked the mark
  /// of a part: the next call returns that part.
  public var isWhole = true

  /// Creates a list of parts, which is complete unless `isWhole` is false.
  public init(_ parts: [DatabasePart] = [], isWhole: Bool = true) {
    self.parts = parts
    self.isWhole = isWhole
  }
}
