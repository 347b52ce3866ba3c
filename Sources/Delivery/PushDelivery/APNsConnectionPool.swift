/// When to connect to APNs, how often, and which connection gets the next push, as a value: the
/// client tells it what happened and does what it answers.
///
/// There is one connection, opened by the first push. Another is opened when all have had every
/// stream in use for a while and pushes still wait, up to a limit, one after the other. Pushes go to
/// the oldest connection that has room, so that those of a rush fall idle after it and are closed;
/// one stays, for APNs wants connections to last. A connection that ends after it was proven is
/// followed by another as soon as there is work; one that ends before is followed later and later
/// (``RetryPolicy/reconnect``).
///
/// Times are nanoseconds of a clock that only goes forward.
struct APNsConnectionPool: Sendable, Hashable {
  struct Limits: Sendable, Hashable {
    var connections = 4
    /// How long all connections must have been full before another is opened.
    var fullness: Duration = .milliseconds(50)
    /// How long a connection beside the last must have been idle before it is closed.
    var idleness: Duration = .seconds(600)
  }

  enum Event: Sendable, Hashable {
    /// So many pushes wait that no connection has room for.
    case waiting(Int)
    /// The connection is there; `limit` requests may be open at a time.
    case opened(Int, limit: Int)
    case limitChanged(Int, limit: Int)
    /// A push was given to the connection.
    case sent(Int)
    /// A push came to its end, with the status of its answer if there was one.
    case finished(Int, status: Int?)
    /// APNs does not take the key or certificate on this connection.
    case refused(Int, random: Double)
    /// The connection takes no more pushes. `random` is in 0 ..< 1, for the delay's random part.
    case ended(Int, isOrderly: Bool, random: Double)
    case rested
    /// Time has gone by.
    case timePassed
    case close
  }

  enum Action: Sendable, Hashable {
    case none
    case connect(Int)
    /// Say when so many seconds are over that connecting may be tried again; and fail what waits if
    /// there is no connection to be had.
    case rest(seconds: Double, failsWaiting: Bool)
    /// Say how many pushes wait when the time has passed.
    case lookAgain(after: Duration)
    /// End these connections when their pushes are answered.
    case end([Int])
  }

  /// An orderly end before the proof is no fault of the sender, unless it happens again and again.
  private static let toleratedOrderlyEnds = 3

  let limits: Limits
  /// In the order of their numbers.
  private(set) var connections: [APNsConnection] = []
  private(set) var isClosed = false
  private(set) var isResting = false
  private var lastNumber = 0
  /// Connections in a row that ended before they were proven.
  private var failures = 0
  private var fullSince: Int64?

  init(limits: Limits = Limits()) {
    self.limits = limits
  }

  /// The connection that gets the next push, and how many it may have; nil when none has room.
  var next: (number: Int, capacity: Int)? {
    for connection in connections {
      let capacity = connection.capacity
      if capacity > 0 { return (connection.number, capacity) }
    }
    return nil
  }

  /// Whether pushes can be sent over one of the connections, now or when others were answered.
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

  /// Ends what has been idle for long, the newest first, and never the last connection.
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
