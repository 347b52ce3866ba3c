extension HTTPServer {
  /// Which bodies go to files while they arrive, so that large ones take no memory.
  public struct Spooling: Sendable {
    /// The folder for the files; it must be there. What a process that died leaves in it is for its
    /// owner to remove.
    public var directory: String
    /// Bytes; a longer body gets 413.
    public var maximumBodySize: Int
    /// Bytes of all files of requests under way; beyond that 503.
    public var maximumSpooledBytes = 4 << 30
    /// Whether the body of a request with this method and this path (decoded, without its query)
    /// goes to a file. Asked on an event loop's thread: it must not wait.
    public var applies: @Sendable (_ method: String, _ path: String) -> Bool

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
