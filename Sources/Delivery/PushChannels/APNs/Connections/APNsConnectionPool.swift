/// The state machine that decides when to connect to APNs and which connection gets the next push.
///
/// The pool does no I/O. ``APNsClient`` reports events to the pool and performs the actions that
/// the pool returns. Events have times in nanoseconds of a monotonic clock. The rules:
///
/// - The first push opens one connection.
/// - A connection is *full* when all its streams (concurrent requests) are in use. If all
///   connections have been full for ``Limits/fullness`` and pushes still wait, the pool opens one
///   more connection. It opens one at a time, up to ``Limits/connections``.
/// - Pushes go to the oldest connection with capacity. So connections that were opened for a burst
///   of pushes become idle after the burst. The pool closes connections that were idle for
///   ``Limits/idleness``, from the newest to the oldest.
/// - The pool never closes its last connection, because Apple asks senders to keep connections
///   open.
/// - The *proof* of a connection is the answer with which APNs accepts its credential. A connection
///   that ends after its proof is replaced as soon as a push waits. If a connection ends before its
///   proof, the pool *pauses*: it opens no connection for a delay, which grows with each failure
///   (``PushRetryPolicy/reconnect``).
struct APNsConnectionPool: Sendable, Hashable {
  /// The limits of the pool.
  struct Limits: Sendable, Hashable {
    var connections = 4
    /// The time for which all connections must have been full before the pool opens another.
    var fullness: Duration = .milliseconds(50)
    /// The time for which a further connection must be idle before the pool closes it.
    var idleness: Duration = .seconds(600)
  }

  /// An event that the client reports. The first value of a case is the number of the connection,
  /// except in ``waiting(_:)``.
  enum Event: Sendable, Hashable {
    /// The number of pushes that still wait after the client has sent as many as the connections
    /// can take; may be 0.
    case waiting(Int)
    /// The connection is open, with at most `limit` concurrent requests.
    case opened(Int, limit: Int)
    case limitChanged(Int, limit: Int)
    case sent(Int)
    /// A push ended, with the HTTP status of its answer; `nil` if there was no answer.
    case finished(Int, status: Int?)
    /// APNs does not accept the key or certificate on this connection. `random` is a number in 0
    /// ..< 1 for the random part of the delay before the next connection.
    case refused(Int, random: Double)
    /// The connection takes no more pushes. `isOrderly` is true if no error ended the connection:
    /// APNs announced the end without an error code, or closed the connection cleanly. `random` is
    /// a number in 0 ..< 1 for the random part of the delay before the next connection.
    case ended(Int, isOrderly: Bool, random: Double)
    /// The delay of ``Action/pause(seconds:failsWaiting:)`` has passed.
    case pauseEnded
    /// Some time has passed. The pool looks for idle connections.
    case timePassed
    /// The client closes. The pool ignores all later events.
    case close
  }

  /// An action that the client must perform.
  enum Action: Sendable, Hashable {
    case none
    case connect(Int)
    /// Report ``Event/pauseEnded`` after this many seconds. The pool opens no connection before. If
    /// `failsWaiting` is true, answer the waiting pushes as not sent.
    case pause(seconds: Double, failsWaiting: Bool)
    /// Report ``Event/waiting(_:)`` again after this time.
    case lookAgain(after: Duration)
    /// Close these connections when their pushes are answered.
    case end([Int])
  }

  /// The number of failures in a row after which the waiting pushes fail, also if the next
  /// connection ends in order before its proof. After fewer failures, the pushes continue to wait.
  /// A server may close connections before their proof for reasons of its own.
  private static let toleratedOrderlyEnds = 3

  let limits: Limits
  /// The connections that take pushes, and those that are being opened, in the order of their
  /// numbers.
  private(set) var connections: [APNsConnection] = []
  private(set) var isClosed = false
  /// Whether the pool waits before it connects again.
  private(set) var isPaused = false
  private var lastNumber = 0
  /// The number of failures since the last proof: connections that ended, or were refused, before
  /// their proof.
  private var failures = 0
  /// The time since which all connections have been full while pushes wait, in nanoseconds. `nil`
  /// if no push waits. Also `nil` while a connection has no proof, while the pool pauses, and at the
  /// maximum number of connections.
  private var fullSince: Int64?

  init(limits: Limits = Limits()) {
    self.limits = limits
  }

  /// The connection for the next push, and the number of pushes that this connection can take now.
  /// `nil` if no connection has capacity.
  var next: (number: Int, capacity: Int)? {
    for connection in connections {
      let capacity = connection.capacity
      if capacity > 0 { return (connection.number, capacity) }
    }
    return nil
  }

  /// Whether a connection is open, so that it can take pushes now or after others are answered.
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
      if connection.phase != .open { return pause(random: random, failsWaiting: true) }
    case .ended(let number, let isOrderly, let random):
      guard let connection = remove(number), connection.phase != .open else { return .none }
      return pause(
        random: random, failsWaiting: !isOrderly || failures >= Self.toleratedOrderlyEnds)
    case .pauseEnded:
      isPaused = false
    case .timePassed:
      return endIdle(at: now)
    case .close:
      isClosed = true
      connections = []
    }
    return .none
  }

  /// Decides whether the waiting pushes need another connection. Returns the action: open one,
  /// report again when ``Limits/fullness`` will have passed, or none.
  private mutating func look(waiting count: Int, at now: Int64) -> Action {
    guard count > 0, !isPaused else {
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

  /// Begins a pause: a delay before the next connection. Waiting pushes fail if `failsWaiting` is
  /// true and no connection is left.
  private mutating func pause(random: Double, failsWaiting: Bool) -> Action {
    defer { failures += 1 }
    isPaused = true
    return .pause(
      seconds: PushRetryPolicy.reconnect.delay(attempt: failures, random: random),
      failsWaiting: failsWaiting && connections.isEmpty)
  }

  /// Removes the connections that have been idle for ``Limits/idleness``, the newest first, and
  /// returns the action that closes them. The pool always keeps one connection.
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
