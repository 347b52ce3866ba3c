/// What servers that share a store give each other notice of, so that nobody has to look again and again
/// for what the tables tell. A notice may be lost: whoever rests on it looks there too, now and then.
public enum ServerNotice: Sendable, Hashable {
  /// A server is there, and its notices arrive.
  case here(ServerID)
  /// Another server has left word in the lease of a database.
  case word
  /// Another server tells something; nil when it is too long for a notice.
  case announced(AnnouncementName, Announcement?)
  /// Notices may have been lost, and none come until there is another connection.
  case interrupted
}

/// What a server was left word of.
public struct LeftWord: Sendable, Hashable {
  /// What others have committed changes of, in no order.
  public var parts: [DatabasePart] = []
  /// Whether these are all. Where a commit is under way there may be more.
  public var isWhole = true

  public init(_ parts: [DatabasePart] = [], isWhole: Bool = true) {
    self.parts = parts
    self.isWhole = isWhole
  }
}
