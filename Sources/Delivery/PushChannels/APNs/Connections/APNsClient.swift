import CloudKitModel
import HTTP2Transport

/// A client that sends pushes to APNs over HTTP/2, with the credential of one team or app.
///
/// The first push opens a connection. The client opens further ones while all are full, and closes
/// idle ones except the last (``Configuration/maximumConnections``). Several topics may use one
/// client.
///
/// When a connection ends, pushes that APNs certainly did not process are sent again, up to three
/// attempts. Other pushes are answered with ``APNsResult/unknown(_:)``. If no connection can be
/// opened, waiting pushes are answered with ``APNsResult/notSent(_:)``. A push that is refused
/// because its provider token has expired is repeated once, if another token is available.
///
/// ```swift
/// let client = APNsClient(configuration, loop: loop)
/// client.send(push) { result in … }
/// await client.close()
/// ```
///
/// A client with a connection stays alive until it is closed. `@unchecked Sendable`: the intake's
/// lock guards a part of the state, and only the loop's thread uses the rest.
public final class APNsClient: @unchecked Sendable {
  /// The callback of a push. It is called once.
  public typealias Completion = @Sendable (APNsResult) -> Void

  /// The address, authentication and limits.
  let configuration: Configuration
  /// The event loop of the connections.
  let loop: EventLoop
  /// The clock for provider tokens.
  let clock: @Sendable () -> Timestamp
  /// The source of numbers in 0 ..< 1 for the random part of delays.
  let random: @Sendable () -> Double
  /// The entrance for pushes of all threads, with the published metrics.
  let intake: APNsClientIntake

  /// The state machine that decides about connections.
  var pool: APNsConnectionPool
  /// The pushes that wait for a connection or a free stream.
  var queue = FIFO<PushItem>()
  /// The changes since the metrics were last published.
  var events = LoopEvents()
  /// Whether ``pump()`` runs after this round of the loop.
  var isPumpScheduled = false
  /// Whether a later look at the waiting pushes is scheduled.
  var isLookScheduled = false
  /// Whether a check for idle connections is scheduled.
  var isIdleCheckScheduled = false
  /// All open connections by their numbers: those in use, and those that still await answers.
  var connections: [Int: HTTP2ClientConnection] = [:]
  /// The completions of ``close(_:)``.
  var closers: [@Sendable () -> Void] = []

  /// Creates a client. It connects with the first push.
  ///
  /// - Parameters:
  ///   - loop: The event loop of the connections. Several clients may share one. Close the client
  ///     before you shut down the loop.
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
  /// - Parameter completion: Receives the result, once, on the loop's thread. If too many pushes
  ///   wait or the client is closed, the caller's thread runs it before the method returns. It must
  ///   not block.
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
  /// at the latest. Waiting and later pushes are answered as not sent. All completions have been
  /// called when the method returns.
  public func close() async {
    await withCheckedContinuation { continuation in
      let isRunning = loop.execute { self.close { continuation.resume() } }
      if !isRunning {
        refuseIncoming()
        continuation.resume()
      }
    }
  }

  /// Answers all collected pushes as not sent, because the event loop is shut down.
  private func refuseIncoming() {
    let items = intake.close()
    intake.update { metrics in
      metrics.waiting -= items.count
      metrics.notSent += items.count
    }
    for item in items { item.completion(.notSent("the client's event loop is shut down")) }
  }
}
