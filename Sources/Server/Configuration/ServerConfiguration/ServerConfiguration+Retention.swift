import Settings

extension ServerConfiguration {
  /// The retention of users' notification logs (`notificationLog`). The server deletes an entry
  /// that exceeds one of the limits. It searches for these entries from time to time, so they may
  /// stay for about an hour longer.
  public struct NotificationLog: Sendable, Hashable {
    /// The time in days for which an entry is kept; 1–365.
    public var days = 30
    /// The maximum number of entries of each user; the newest remain.
    public var entries = 10_000
    /// The maximum size in bytes of the contents of each user's entries; the newest remain.
    public var bytes = 64 << 20

    /// Creates the default limits.
    public init() {}

    /// The table of the settings. Clients see the limits in `server/limits`.
    static let settings = SettingTable(
      NotificationLog(),
      [
        .init(
          "days", \.days, .whole(1...365, .days), restart: true,
          clientLimit: "notificationLogDays",
          "The time for which an entry is kept."),
        .init(
          "entries", \.entries, .whole(100...1_000_000), restart: true,
          clientLimit: "notificationLogEntries",
          "The number of newest entries that are kept of each user."),
        .init(
          "bytes", \.bytes, .whole(1 << 20...1 << 40, .bytes), restart: true,
          clientLimit: "notificationLogSize",
          "The bytes of the newest contents that are kept of each user."),
      ])
  }

  /// The retention of dispatched changes (`explain`). The server uses them to explain why a push
  /// came or did not come.
  public struct Explain: Sendable, Hashable {
    /// The maximum number of changes of each database; the newest remain. 0 keeps none.
    public var changes = 10_000
    /// The time in days for which a change is kept; 1–365.
    public var days = 7

    /// Creates the default limits.
    public init() {}

    static let settings = SettingTable(
      Explain(),
      [
        .init(
          "changes", \.changes, .whole(0...1_000_000), restart: true,
          "The number of newest changes that are kept of each database. 0 keeps none."),
        .init(
          "days", \.days, .whole(1...365, .days), restart: true,
          "The time for which a change is kept."),
      ])
  }
}
