extension APNsClient {
  /// The counters since the client was created, and its present state.
  public struct Metrics: Sendable, Hashable {
    /// The number of pushes that wait for a connection or a free stream.
    public internal(set) var waiting = 0
    /// The number of pushes that were sent and have no answer yet.
    public internal(set) var inFlight = 0
    /// Whether at least one connection is open.
    public internal(set) var isConnected = false
    /// The number of connections that take pushes, including those that are being opened.
    public internal(set) var openConnections = 0
    /// The reason why the last connection ended; `nil` if none has ended.
    public internal(set) var lastEnd: String?
    /// The number of attempts to connect.
    public internal(set) var connections = 0
    /// The number of pushes that APNs accepted.
    public internal(set) var accepted = 0
    /// The number of pushes that APNs answered with another status than 200.
    public internal(set) var rejected = 0
    /// The number of pushes that APNs certainly did not process and that were returned to the
    /// caller.
    public internal(set) var notSent = 0
    /// The number of pushes whose answer never came.
    public internal(set) var unknown = 0
  }
}
