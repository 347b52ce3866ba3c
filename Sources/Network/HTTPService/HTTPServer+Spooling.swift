extension HTTPServer {
  /// The rule for request bodies that go to files while they arrive, so that large ones take no
  /// memory.
  public struct Spooling: Sendable {
    /// The folder for the files, which must exist. Its owner removes the files that a process left
    /// there when it died.
    public var directory: String
    /// The largest body in bytes; a longer one gets 413.
    public var maximumBodySize: Int
    /// The bytes in files of all requests under way. Beyond it a request gets 503.
    public var maximumSpooledBytes = 4 << 30
    /// Whether the body of a request with this method and path (decoded, without its query) goes to
    /// a file. An event loop calls it, so it must not block.
    public var applies: @Sendable (_ method: String, _ path: String) -> Bool

    /// Creates a rule with the default limit for all files.
    public init(
      directory: String, maximumBodySize: Int,
      applies: @escaping @Sendable (_ method: String, _ path: String) -> Bool
    ) {
      self.directory = directory
      self.maximumBodySize = maximumBodySize
      self.applies = applies
    }
  }
}
