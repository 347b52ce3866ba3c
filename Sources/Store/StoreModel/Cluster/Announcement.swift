/// A message from one server to the others: the users who have new notifications in the log.
public struct Announcement: Sendable, Hashable {
  /// The users' record names; nil for all users.
  public var subscribers: Set<String>?

  public init(subscribers: Set<String>?) {
    self.subscribers = subscribers
  }
}

/// Identifies an announcement.
public struct AnnouncementName: Sendable, Hashable {
  package var server: Int64
  package var number: Int64

  package init(server: Int64, number: Int64) {
    self.server = server
    self.number = number
  }
}

/// The position up to which a server has read the other servers' announcements.
public struct AnnouncementPosition: Sendable, Hashable {
  /// The time by the store's clock; nil before the first reading.
  package var time: Int64?
  /// Announcements from shortly before `time` that were read. Others of the same age may still
  /// appear.
  package var known: [AnnouncementName: Int64] = [:]

  public init() {}

  /// Skips announcements that arrived as notifications.
  public mutating func pass(_ names: Set<AnnouncementName>) {
    for name in names where known[name] == nil { known[name] = .max }
  }
}
