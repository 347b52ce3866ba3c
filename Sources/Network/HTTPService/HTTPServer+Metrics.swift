extension HTTPServer {
  /// What the server is doing and has done, at one moment. The numbers are read one after the
  /// other, so they need not add up while requests come and go.
  public struct Metrics: Sendable, Hashable {
    public var openConnections: Int
    /// Idle connections that were closed to make room for others, since the start.
    public var connectionsEvicted: Int
    /// Requests that were accepted and whose answer is not sent yet, long polls and streams
    /// included.
    public var requestsUnderWay: Int
    /// Bytes of the bodies of these requests in memory.
    public var bufferedBytes: Int
    /// Bytes of the bodies of these requests in files.
    public var spooledBytes: Int
    /// Answers of handlers that were sent whole, since the start.
    public var requestsServed: Int
    /// Accepted requests that ended without their whole answer being sent: the client went, or
    /// the server stopped.
    public var requestsBroken: Int
    /// Requests and connections that were refused, since the start. All reasons are there.
    public var refused: [HTTPRefusal.Reason: Int]
  }

  public var metrics: Metrics { counters.snapshot() }
}
