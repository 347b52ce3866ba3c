extension HTTPServer {
  /// The counters of a server at one moment.
  ///
  /// The server reads the numbers one after the other, so they need not add up during requests.
  public struct Metrics: Sendable, Hashable {
    /// The connections that are open.
    public var openConnections: Int
    /// The idle connections that were closed to free places for others, since the start.
    public var connectionsEvicted: Int
    /// The accepted requests whose answer is not sent yet, including long polls and streams.
    public var requestsUnderWay: Int
    /// The sum of the bytes in memory of the bodies of requests, and of the answers that are being
    /// sent, except streams.
    public var bufferedBytes: Int
    /// The bytes of request bodies in files.
    public var spooledBytes: Int
    /// The handlers' answers that were sent completely, since the start.
    public var requestsServed: Int
    /// The accepted requests that ended without a complete answer, since the start: the client
    /// left, or the server stopped.
    public var requestsBroken: Int
    /// The refused requests and connections by reason, since the start. Every reason has an entry.
    public var refused: [HTTPRefusal.Reason: Int]
  }

  /// The present values of the counters.
  public var metrics: Metrics {
    counters.snapshot(
      bufferedBytes: memory.withLock { $0.taken }, spooledBytes: files.withLock { $0.taken })
  }
}
