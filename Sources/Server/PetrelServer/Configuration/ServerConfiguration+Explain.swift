extension ServerConfiguration {
  /// What is kept for explanations of why a push came or did not.
  public struct Explain: Sendable, Hashable {
    /// Changes of each database, the latest; 0 keeps none.
    public var changes = 10_000
    /// How long they are kept, in days.
    public var days = 7

    public init() {}

    init(_ reader: ConfigurationReader) throws(ConfigurationError) {
      try reader.allow(["changes", "days"])
      changes = try reader.int("changes", in: 0...1_000_000) ?? changes
      days = try reader.int("days", in: 1...365) ?? days
    }
  }
}
