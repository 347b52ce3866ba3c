import CloudKitModel
import HTTP2Transport

/// A client that sends pushes to APNs over HTTP/2, with the credential of one team or app.
///
/// The first push opens a connection. The client opens further connections while pushes wait and
/// all streams are in use, up to ``Configuration/maximumConnections``. A stream is one request of
/// an HTTP/2 connection. The client closes idle connections, except the last one. One client may
/// send pushes for several topics.
///
/// When a connection ends, the client sends the pushes that APNs certainly did not process again,
/// up to three attempts. Other pushes on the connection end with ``PushAnswer/unanswered(_:)``. If no
/// connection can be opened, waiting pushes end with ``PushAnswer/notSent(_:)``. A push that APNs
/// refuses because its provider token has expired is repeated once, if another token is available.
///
/// ```swift
/// let client = APNsClient(configuration, loop: loop)
/// client.send(push) { answer in … }
/// await client.close()
/// ```
///
/// An open connection keeps its client in memory, so close a client that is no longer needed.
/// `@unchecked Sendable`: the intake has a lock of its own, and only the event loop's thread uses
/// the other variables.
public final class APNsClient: @unchecked Sendable {
  /// The callback of a push. The client calls it once, with an answer without topic and payload.
  public typealias Completion = @Sendable (PushAnswer) -> Void

  let configuration: Configuration
  let loop: EventLoop
  let clock: @Sendable () -> Timestamp
  /// The source of numbers in 0 ..< 1 for the random part of delays.
  let random: @Sendable () -> Double
  /// The object that accepts pushes from all threads, with the published metrics.
  let intake: APNsClientIntake

  /// The state machine that decides when to open and close connections, and which one gets the next
  /// push.
  var pool: APNsConnectionPool
  /// The pushes that wait for a connection or a free stream.
  var queue = FIFO<PushItem>()
  /// The changes since the metrics were last published. The numbers may be negative.
  var changes = Metrics()
  /// Whether a run of ``pump()`` is scheduled at the loop by ``schedulePump()``.
  var isPumpScheduled = false
  /// Whether a run of ``pump()`` after a delay is scheduled.
  var isLookScheduled = false
  var isIdleCheckScheduled = false
  /// All connections by their numbers: those that take pushes, those that are being opened, and
  /// those that only wait for answers before they close.
  var connections: [Int: HTTP2ClientConnection] = [:]
  /// The completions of ``close(_:)`` that are still to be called.
  var closers: [@Sendable () -> Void] = []

  /// Creates a client. The client connects when it gets its first push.
  ///
  /// - Parameters:
  ///   - loop: The event loop of the connections. Several clients may share one loop. Close the
  ///     client before you shut down the loop.
  ///   - clock: The clock for provider tokens.
  ///   - random: Returns numbers in 0 ..< 1 for the random part of delays.
  public init(
    _ configuration: Configuration, loop: EventLoop,
    clock: @escaping @Sendable () -> Timestamp = { .now },
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
  ) {
    self.configuration = configuration
    self.loop = loop
    self.clock = clock
    self.random = random
    intake = APNsClientIntake(capacity: configuration.capacity)
    pool = APNsConnectionPool(limits: configuration.poolLimits)
  }

  /// Sends a push. Any thread may call the method.
  ///
  /// - Parameter completion: Receives the result, once, on the event loop's thread. If too many
  ///   pushes wait, the client is closed or the loop is shut down, the caller's thread runs the
  ///   completion before the method returns. The completion must not block.
  public func send(_ push: Push, completion: @escaping Completion) {
    switch intake.enter(PushItem(push: push, completion: completion)) {
    case .wake:
      if !loop.execute({ self.pump() }) { refuseIncoming() }
    case .taken:
      break
    case .rejected(let reason):
      completion(.notSent(reason))
    }
  }

  /// The counters and the state of the client. Any thread may read them.
  public var metrics: Metrics { intake.metrics }

  /// The number of pushes that wait for a connection or a free stream.
  public var waitingCount: Int { metrics.waiting }

  /// Closes the connections when all sent pushes are answered, after ``Configuration/closeTimeout``
  /// at the latest. Waiting and later pushes end with ``PushAnswer/notSent(_:)``. When the method
  /// returns, the completions of all earlier pushes have been called.
  public func close() async {
    await withCheckedContinuation { continuation in
      let isRunning = loop.execute { self.close { continuation.resume() } }
      if !isRunning {
        refuseIncoming()
        continuation.resume()
      }
    }
  }

  /// Closes the intake and answers its pushes as not sent, because the event loop is shut down and
  /// cannot collect them.
  private func refuseIncoming() {
    let items = intake.close()
    intake.update { metrics in
      metrics.waiting -= items.count
      metrics.notSent += items.count
    }
    for item in items { item.completion(.notSent("the client's event loop is shut down")) }
  }
}
