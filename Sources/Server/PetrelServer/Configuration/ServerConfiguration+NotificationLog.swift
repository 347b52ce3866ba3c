extension ServerConfiguration {
  /// How much is kept of users' notification logs.
  public struct NotificationLog: Sendable, Hashable {
    /// How long entries are kept, in days.
    public var days = 30
    /// Entries of one user, the newest.
    public var entries = 10_000
    /// Bytes of the contents of one user's entries, the newest.
    public var bytes = 64 << 20

    public init() {}

    init(_ reader: ConfigurationReader) throws(ConfigurationError) {
      try reader.allow(["days", "entries", "bytes"])
      days = try reader.int("days", in: 1...365) ?? days
      entries = try reader.int("entries", in: 100...1_000_000) ?? entries
      bytes = try reader.int("bytes", in: 1 << 20...Int64(1) << 40) ?? bytes
    }
  }
}
