extension APNsClient {
  /// Counts since the client was made, and its present state.
  public struct Metrics: Sendable, Hashable {
    /// Pushes that wait for a connection or a free stream.
    public internal(set) var waiting = 0
    /// Pushes that were sent and not yet answered.
    public internal(set) var inFlight = 0
    /// Whether there is a connection.
    public internal(set) var isConnected = false
    /// The number of connections that take pushes, including those being opened.
    public internal(set) var openConnections = 0
    /// Why the last connection ended; nil if none has ended.
    public internal(set) var lastEnd: String?
    /// Attempts to connect.
    public internal(set) var connections = 0
    /// Pushes that APNs accepted.
    public internal(set) var accepted = 0
    /// Pushes that APNs did not accept.
    public internal(set) var rejected = 0
    /// Pushes that APNs certainly did not process, returned to the caller.
    public internal(set) var notSent = 0
    /// Pushes whose answer never came.
    public internal(set) var unknown = 0
  }
}
