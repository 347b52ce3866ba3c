/// The state machine that decides when to connect to APNs and which connection gets the next push.
///
/// The pool does no I/O: ``APNsClient`` reports events to it and performs its actions. Events have
/// times in nanoseconds of a monotonic clock. The rules:
///
/// - The first push opens one connection.
/// - A connection is *full* when it has every stream in use. If all connections have been full for
///   ``Limits/fullness`` and pushes still wait, the pool opens one more. It opens one at a time, up
///   to ``Limits/connections``.
/// - Pushes go to the oldest connection with capacity. The newer connections of a burst therefore
///   become idle after it. The pool closes connections that were idle for ``Limits/idleness``, from
///   the newest to the oldest.
/// - The pool never closes its last connection, because Apple asks senders to keep connections
///   open.
/// - The *proof* of a connection is the answer with which APNs accepts its credential. A connection
///   that ends after its proof is replaced as soon as a push waits. If a connection ends before its
///   proof, the pool *rests*: it opens no connection for a delay, which grows with each failure
///   (``RetryPolicy/reconnect``).
struct APNsConnectionPool: Sendable, Hashable {
  /// The limits of the pool.
  struct Limits: Sendable, Hashable {
    /// The greatest number of connections.
    var connections = 4
    /// The time for which all connections must have been full before the pool opens another.
    var fullness: Duration = .milliseconds(50)
    /// The time for which a further connection must be idle before the pool closes it.
    var idleness: Duration = .seconds(600)
  }

  /// An event that the client reports. The first value is the number of the connection, except in
  /// ``waiting(_:)``.
  enum Event: Sendable, Hashable {
    /// This number of pushes waits, because no connection has capacity.
    case waiting(Int)
    /// The connection is open, with at most `limit` concurrent requests.
    case opened(Int, limit: Int)
    /// APNs changed the maximum number of concurrent requests.
    case limitChanged(Int, limit: Int)
    /// A push was given to the connection.
    case sent(Int)
    /// A push ended, with the status of its answer if there was one.
    case finished(Int, status: Int?)
    /// APNs does not accept the key or certificate on this connection. `random` is in 0 ..< 1, for
    /// the random part of the delay.
    case refused(Int, random: Double)
    /// The connection takes no more pushes. `isOrderly` is true if no error ended the connection:
    /// APNs announced the end without an error code, or closed the connection cleanly. `random` is
    /// in 0 ..< 1, for the random part of the delay.
    case ended(Int, isOrderly: Bool, random: Double)
    /// The delay of ``Action/rest(seconds:failsWaiting:)`` has passed.
    case rested
    /// Time has passed. The pool looks for idle connections.
    case timePassed
    /// The client closes. The pool ignores all later events.
    case close
  }

  /// An action that the client must perform.
  enum Action: Sendable, Hashable {
    /// Nothing is to be done.
    case none
    /// Open a connection with this number.
    case connect(Int)
    /// Report ``Event/rested`` after this many seconds. The pool does not connect before. If
    /// `failsWaiting` is true, return the waiting pushes as not sent.
    case rest(seconds: Double, failsWaiting: Bool)
    /// Report the number of waiting pushes after this time.
    case lookAgain(after: Duration)
    /// End these connections when their pushes are answered.
    case end([Int])
  }

  /// The limit of tolerated failures. After this many consecutive failures, an orderly end before
  /// the proof also fails the waiting pushes. After fewer, the pushes wait, because a server may
  /// close connections before their proof for reasons of its own.
  private static let toleratedOrderlyEnds = 3

  /// The limits.
  let limits: Limits
  /// The connections that take pushes, and those that are being opened, in the order of their
  /// numbers.
  private(set) var connections: [APNsConnection] = []
  /// Whether the pool is closed.
  private(set) var isClosed = false
  /// Whether the pool waits before it connects again.
  private(set) var isResting = false
  /// The number of the last connection.
  private var lastNumber = 0
  /// The number of connections that ended before their proof, since the last proof.
  private var failures = 0
  /// The time since which all connections have been full while pushes wait, in nanoseconds. It is
  /// `nil` while they are not, while one of them has no proof, while the pool rests, and at the
  /// maximum number of connections.
  private var fullSince: Int64?

  /// Creates a pool without connections.
  init(limits: Limits = Limits()) {
    self.limits = limits
  }

  /// The connection for the next push, and the number of pushes that it can take; `nil` if none has
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

  /// Handles an event and returns the action to perform.
  ///
  /// - Parameter now: The time in nanoseconds of a monotonic clock.
  /// - Complexity: O(*n*), where *n* is the number of connections; O(*n*²) for
  ///   ``Event/timePassed``.
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

  /// Decides whether the waiting pushes need another connection: opens one, or asks the client to
  /// report again after the rest of ``Limits/fullness``.
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

  /// Adds a connection.
  private mutating func connect() -> Action {
    fullSince = nil
    lastNumber += 1
    connections.append(APNsConnection(number: lastNumber))
    return .connect(lastNumber)
  }

  /// Starts a delay before the next connection. Waiting pushes fail only if no connection is left.
  private mutating func rest(random: Double, failsWaiting: Bool) -> Action {
    defer { failures += 1 }
    isResting = true
    return .rest(
      seconds: RetryPolicy.reconnect.delay(attempt: failures, random: random),
      failsWaiting: failsWaiting && connections.isEmpty)
  }

  /// Removes connections that have been idle for ``Limits/idleness``: the newest first. It always
  /// keeps one.
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

  /// Changes a connection, if the pool still has it.
  private mutating func change(_ number: Int, _ body: (inout APNsConnection) -> Void) {
    guard let index = connections.firstIndex(where: { $0.number == number }) else { return }
    body(&connections[index])
  }

  /// Removes a connection and returns it; `nil` if the pool does not have it.
  private mutating func remove(_ number: Int) -> APNsConnection? {
    guard let index = connections.firstIndex(where: { $0.number == number }) else { return nil }
    return connections.remove(at: index)
  }
}
