/// Decides when to connect to APNs, and which connection gets the next push. A value: the client
/// reports events and performs the actions.
///
/// The first push opens one connection. If all connections have had every stream in use for a while
/// and pushes still wait, another is opened, one after the other up to a limit. Pushes go to the
/// oldest connection with capacity, so that the connections of a burst become idle after it and are
/// closed. One connection stays, because APNs wants connections to last. A connection that ends
/// after its proof is replaced as soon as there is work. One that ends before its proof is replaced
/// after growing delays (``RetryPolicy/reconnect``).
///
/// Times are nanoseconds of a monotonic clock.
struct APNsConnectionPool: Sendable, Hashable {
  struct Limits: Sendable, Hashable {
    var connections = 4
    /// How long all connections must have been full before another is opened.
    var fullness: Duration = .milliseconds(50)
    /// How long a further connection must be idle before it is closed.
    var idleness: Duration = .seconds(600)
  }

  enum Event: Sendable, Hashable {
    /// The number of pushes that wait because no connection has capacity.
    case waiting(Int)
    /// The connection is open, with at most `limit` concurrent requests.
    case opened(Int, limit: Int)
    case limitChanged(Int, limit: Int)
    /// A push was given to the connection.
    case sent(Int)
    /// A push ended, with the status of its answer if there was one.
    case finished(Int, status: Int?)
    /// APNs does not accept the key or certificate on this connection.
    case refused(Int, random: Double)
    /// The connection takes no more pushes. `random` is in 0 ..< 1, for the delay's random part.
    case ended(Int, isOrderly: Bool, random: Double)
    case rested
    /// Time has passed.
    case timePassed
    case close
  }

  enum Action: Sendable, Hashable {
    case none
    case connect(Int)
    /// Report when this many seconds have passed, after which connecting may be tried again. Fail
    /// the waiting pushes if there is no connection.
    case rest(seconds: Double, failsWaiting: Bool)
    /// Report the number of waiting pushes when the time has passed.
    case lookAgain(after: Duration)
    /// End these connections when their pushes are answered.
    case end([Int])
  }

  /// Orderly ends before the proof that do not count as the sender's failure.
  private static let toleratedOrderlyEnds = 3

  let limits: Limits
  /// Sorted by number.
  private(set) var connections: [APNsConnection] = []
  private(set) var isClosed = false
  private(set) var isResting = false
  private var lastNumber = 0
  /// The number of consecutive connections that ended before their proof.
  private var failures = 0
  private var fullSince: Int64?

  init(limits: Limits = Limits()) {
    self.limits = limits
  }

  /// The connection for the next push, and the number of pushes that it may have; nil if none has
  /// capacity.
  var next: (number: Int, capacity: Int)? {
    for connection in connections {
      let capacity = connection.capacity
      if capacity > 0 { return (connection.number, capacity) }
    }
    return nil
  }

  /// Whether a connection can take pushes, now or after others are answered.
  var isConnected: Bool { connections.contains { $0.phase != .connecting } }

  mutating func handle(_ event: Event, at now: Int64) -> Action {
    guard !isClosed else { return .none }
    switch event {
    case .waiting(let count):
      return look(waiting: count, at: now)
    case .opened(let number, let limit):
      change(number) { $0.opened(limit: limit, at: now) }
    case .limitChanged(let number, let limit):
      change(number) { $0.limitChanged(limit) }
    case .sent(let number):
      change(number) { $0.sent() }
    case .finished(let number, let status):
      var isProof = false
      change(number) { isProof = $0.ended(status: status, at: now) }
      if isProof { failures = 0 }
    case .refused(let number, let random):
      guard let connection = remove(number) else { return .none }
      if connection.phase != .open { return rest(random: random, failsWaiting: true) }
    case .ended(let number, let isOrderly, let random):
      guard let connection = remove(number), connection.phase != .open else { return .none }
      return rest(
        random: random, failsWaiting: !isOrderly || failures >= Self.toleratedOrderlyEnds)
    case .rested:
      isResting = false
    case .timePassed:
      return endIdle(at: now)
    case .close:
      isClosed = true
      connections = []
    }
    return .none
  }

  private mutating func look(waiting count: Int, at now: Int64) -> Action {
    guard count > 0, !isResting else {
      fullSince = nil
      return .none
    }
    guard !connections.isEmpty else { return connect() }
    guard connections.count < limits.connections, connections.allSatisfy({ $0.phase == .open })
    else {
      fullSince = nil
      return .none
    }
    let since = fullSince ?? now
    fullSince = since
    let rest = since + limits.fullness.nanoseconds - now
    return rest > 0 ? .lookAgain(after: .nanoseconds(rest)) : connect()
  }

  private mutating func connect() -> Action {
    fullSince = nil
    lastNumber += 1
    connections.append(APNsConnection(number: lastNumber))
    return .connect(lastNumber)
  }

  private mutating func rest(random: Double, failsWaiting: Bool) -> Action {
    defer { failures += 1 }
    isResting = true
    return .rest(
      seconds: RetryPolicy.reconnect.delay(attempt: failures, random: random),
      failsWaiting: failsWaiting && connections.isEmpty)
  }

  /// Ends connections that have been idle for long, the newest first, and never the last one.
  private mutating func endIdle(at now: Int64) -> Action {
    var ended: [Int] = []
    for connection in connections.reversed() where connections.count > 1 {
      guard let since = connection.idleSince, now - since >= limits.idleness.nanoseconds else {
        continue
      }
      ended.append(connection.number)
      _ = remove(connection.number)
    }
    return ended.isEmpty ? .none : .end(ended)
  }

  private mutating func change(_ number: Int, _ body: (inout APNsConnection) -> Void) {
    guard let index = connections.firstIndex(where: { $0.number == number }) else { return }
    body(&connections[index])
  }

  private mutating func remove(_ number: Int) -> APNsConnection? {
    guard let index = connections.firstIndex(where: { $0.number == number }) else { return nil }
    return connections.remove(at: index)
  }
}
