extension ServerConfiguration {
  /// How much is kept of users' notification logs.
  public struct NotificationLog: Sendable, Hashable {
    /// How long entries are kept, in days.
    public var days = 30
    /// Entries of one user, the newest.
    public var entries = 10_000

    public init() {}

    init(_ reader: ConfigurationReader) throws(ConfigurationError) {
      try reader.allow(["days", "entries"])
      days = try reader.int("days", in: 1...365) ?? days
      entries = try reader.int("entries", in: 100...1_000_000) ?? entries
    }
  }
}
