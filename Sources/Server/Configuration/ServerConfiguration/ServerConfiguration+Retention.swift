import Settings

extension ServerConfiguration {
  /// How much is kept of users' notification logs.
  public struct NotificationLog: Sendable, Hashable {
    public var days = 30
    public var entries = 10_000
    public var bytes = 64 << 20

    public init() {}

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
          "The entries that are kept of each user, the newest."),
        .init(
          "bytes", \.bytes, .whole(1 << 20...1 << 40, .bytes), restart: true,
          clientLimit: "notificationLogSize",
          "The size of the contents that are kept of each user, the newest."),
      ])
  }

  /// What is kept for explanations of why a push came or did not.
  public struct Explain: Sendable, Hashable {
    public var changes = 10_000
    public var days = 7

    public init() {}

    static let settings = SettingTable(
      Explain(),
      [
        .init(
          "changes", \.changes, .whole(0...1_000_000), restart: true,
          "The changes that are kept of each database, the newest. 0 keeps none."),
        .init(
          "days", \.days, .whole(1...365, .days), restart: true,
          "The time for which a change is kept."),
      ])
  }
}
