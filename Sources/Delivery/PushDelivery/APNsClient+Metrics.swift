extension APNsClient {
  /// What a client did since it was made, and how it stands.
  public struct Metrics: Sendable, Hashable {
    /// Pushes that wait for a connection or a free stream.
    public internal(set) var waiting = 0
    /// Pushes that were sent and have no answer yet.
    public internal(set) var inFlight = 0
    /// Whether there is a connection.
    public internal(set) var isConnected = false
    /// Connections that pushes may go over, those that are being opened among them.
    public internal(set) var openConnections = 0
    /// Why the last connection that ended did; nil before that.
    public internal(set) var lastEnd: String?
    /// Attempts to connect.
    public internal(set) var connections = 0
    /// Pushes that APNs accepted.
    public internal(set) var accepted = 0
    /// Pushes that APNs answered otherwise.
    public internal(set) var rejected = 0
    /// Pushes that APNs certainly did not process, and that were given back.
    public internal(set) var notSent = 0
    /// Pushes whose answer never came.
    public internal(set) var unknown = 0
  }
}
