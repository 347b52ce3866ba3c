extension HTTPServer {
  /// The folder and the limits of request bodies that go to files while they arrive
  /// (``RequestRules/Body/file``), so that large ones take no memory.
  public struct Spooling: Sendable {
    /// The folder for the files. The folder must exist. The code that sets it must delete files
    /// left by a crashed process.
    public var directory: String
    /// The largest body in bytes; a longer one gets 413. If the request does not declare the
    /// length, and more than twice this limit arrives, the server closes the connection without an
    /// answer.
    public var maximumBodySize: Int
    /// The most bytes in the files of all requests under way together. A request that would exceed
    /// the limit gets 503. Each host, network and account may use only a share
    /// (``ByteAdmission``).
    public var maximumSpooledBytes = 4 << 30
    /// The time of a body. The server disconnects a client that takes longer.
    public var bodyTime = Duration.seconds(3600)
    /// Creates the limits, with the default ``maximumSpooledBytes``.
    public init(directory: String, maximumBodySize: Int) {
      self.directory = directory
      self.maximumBodySize = maximumBodySize
    }
  }
}
