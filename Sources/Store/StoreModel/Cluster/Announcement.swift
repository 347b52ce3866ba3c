/// What one server tells the others: for whom there are notifications in the log.
public struct Announcement: Sendable, Hashable {
  /// Their user record names; nil for everybody.
  public var subscribers: Set<String>?

  public init(subscribers: Set<String>?) {
    self.subscribers = subscribers
  }
}

/// What tells an announcement from all others.
public struct AnnouncementName: Sendable, Hashable {
  package var server: Int64
  package var number: Int64

  package init(server: Int64, number: Int64) {
    self.server = server
    self.number = number
  }
}

/// Up to where the announcements of others were read.
public struct AnnouncementPosition: Sendable, Hashable {
  /// By the store's clock; nil before the first reading.
  package var time: Int64?
  /// Those read that are hardly older: others of the same time may have come to light since.
  package var known: [AnnouncementName: Int64] = [:]

  public init() {}

  /// Passes over announcements that came as notifications.
  public mutating func pass(_ names: Set<AnnouncementName>) {
    for name in names where known[name] == nil { known[name] = .max }
  }
}
