/// A message from one server to the others: the users who have new notifications in the log. A
/// server at which web courier polls of these users wait then reads the log.
public struct Announcement: Sendable, Hashable {
  /// The users' record names; nil for all users.
  public var subscribers: Set<String>?

  /// Creates an announcement; nil stands for all users.
  public init(subscribers: Set<String>?) {
    self.subscribers = subscribers
  }
}

/// The identity of an announcement. A server sends each announcement as a row of a table and as a
/// notification of PostgreSQL, so a receiver can recognize the second.
public struct AnnouncementName: Sendable, Hashable {
  package var server: Int64
  package var number: Int64

  package init(server: Int64, number: Int64) {
    self.server = server
    self.number = number
  }
}

/// The position up to which a server has read the table of the other servers' announcements.
public struct AnnouncementPosition: Sendable, Hashable {
  /// When the newest announcement so far was made, or the first reading if there is none:
  /// milliseconds since 1970 by the store's clock. nil before the first reading.
  package var time: Int64?
  /// The known announcements, with the milliseconds since 1970 when they were made; `Int64.max`
  /// for one that arrived as a notification.
  ///
  /// Of the announcements in the table, only those from shortly before `time` are here. A
  /// transaction may commit an announcement late, so each reading begins a little before `time`
  /// and leaves out the known ones.
  package var known: [AnnouncementName: Int64] = [:]

  /// The position before the first reading.
  public init() {}

  /// Adds announcements that arrived as notifications; the next reading leaves them out.
  public mutating func pass(_ names: Set<AnnouncementName>) {
    for name in names where known[name] == nil { known[name] = .max }
  }
}

/// A notification between servers that share a store. It may be lost, so servers still read the
/// tables from time to time.
public enum ServerNotification: Sendable, Hashable {
  case joined(ServerID)
  /// Another process has committed changes that this server must dispatch.
  case wakeUp
  /// Another server has made an announcement. The second value is nil if it is too long for a
  /// notification; the server then reads it in the table.
  case announced(AnnouncementName, Announcement?)
  /// The connection for notifications was lost. Some may be missing, and none arrive until there
  /// is a new one.
  case interrupted
}

/// The databases and parts in which other processes have committed changes that this server must
/// dispatch.
public struct WakeUps: Sendable, Hashable {
  /// The databases and parts with such changes, in no order.
  public var parts: [DatabasePart] = []
  /// Whether the list has all marked parts. Otherwise a commit had locked the mark of a part: the
  /// next call returns that part.
  public var isWhole = true

  /// Creates a list of parts.
  public init(_ parts: [DatabasePart] = [], isWhole: Bool = true) {
    self.parts = parts
    self.isWhole = isWhole
  }
}

/// The identity of a server that has a shared store open. Each registration gets a new ID, also
/// that of a server whose earlier registration expired.
public struct ServerID: RawRepresentable, Sendable, Hashable {
  /// The number of the row in the table `servers`.
  public var rawValue: Int64

  /// Restores an ID from its number.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }
}
