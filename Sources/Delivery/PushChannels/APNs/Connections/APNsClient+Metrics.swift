extension APNsClient {
  /// The counters since the client was created, and its present numbers of pushes and connections.
  public struct Metrics: Sendable, Hashable {
    /// The number of pushes that wait for a connection or a free stream (one request of a
    /// connection).
    public internal(set) var waiting = 0
    /// The number of pushes that were sent and have no answer yet.
    public internal(set) var inFlight = 0
    /// Whether at least one open connection takes pushes.
    public internal(set) var isConnected = false
    /// The number of connections that take pushes, and of those that are being opened.
    public internal(set) var openConnections = 0
    /// The reason for the last end of a connection; `nil` if no connection has ended.
    public internal(set) var lastEnd: String?
    /// The number of attempts to connect.
    public internal(set) var connections = 0
    /// The number of pushes that APNs accepted.
    public internal(set) var accepted = 0
    /// The number of pushes that APNs answered with a status other than 200.
    public internal(set) var rejected = 0
    /// The number of pushes that ended with ``PushAnswer/notSent(_:)``.
    public internal(set) var notSent = 0
    /// The number of pushes that ended with ``PushAnswer/unanswered(_:)``, without an answer.
    public internal(set) var unknown = 0

    /// Adds the changes of the numbers, and takes over the state of the connections.
    mutating func add(_ changes: Self) {
      waiting += changes.waiting
      inFlight += changes.inFlight
      connections += changes.connections
      accepted += changes.accepted
      rejected += changes.rejected
      notSent += changes.notSent
      unknown += changes.unknown
      isConnected = changes.isConnected
      openConnections = changes.openConnections
      lastEnd = changes.lastEnd ?? lastEnd
    }
  }
}
