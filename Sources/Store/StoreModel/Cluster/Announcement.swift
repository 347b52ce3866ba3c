/// A message from one server to the others: the users who have new notifications in the log. A
/// server with waiting web courier polls of these users then reads the log.
public struct Announcement: Sendable, Hashable {
  /// The users' record names; nil for all users.
  public var subscribers: Set<String>?

  /// Creates an announcement about these users; nil stands for all users.
  public init(subscribers: Set<String>?) {
    self.subscribers = subscribers
  }
}

/// The identity of an announcement: the server that made it and a number that the server counts up.
/// The announcement in the table and the notification about it have the same name, so a server
/// reads it once.
public struct AnnouncementName: Sendable, Hashable {
  /// The ``ServerID`` of the announcing server.
  package var server: Int64
  /// The announcement's number, which rises in each process.
  package var number: Int64

  /// Names an announcement of a server.
  package init(server: Int64, number: Int64) {
    self.server = server
    self.number = number
  }
}

/// The position up to which a server has read the other servers' announcements.
public struct AnnouncementPosition: Sendable, Hashable {
  /// The time of the last reading by the store's clock; nil before the first reading.
  package var time: Int64?
  /// The announcements from shortly before `time` that were read, with the times at which they were
  /// made. A time of `Int64.max` marks one that arrived as a notification. They are known one by
  /// one, because others of the same age may still be committed.
  package var known: [AnnouncementName: Int64] = [:]

  /// The position before the first reading.
  public init() {}

  /// Marks announcements as read that arrived as notifications, so that the next reading leaves
  /// them out.
  public mutating func pass(_ names: Set<AnnouncementName>) {
    for name in names where known[name] == nil { known[name] = .max }
  }
}
