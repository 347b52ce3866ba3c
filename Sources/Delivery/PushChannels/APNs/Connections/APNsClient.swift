import CloudKitModel
import HTTP2Transport

/// Sends pushes to APNs over HTTP/2, in the name of one team.
///
/// The first push opens a connection, which is kept. Others are opened when it is full, and closed
/// when they are idle (``Configuration/maximumConnections``). When a connection ends, pushes that
/// APNs certainly did not process go over another one; pushes with an unknown outcome are answered
/// as such. If no connection can be opened, waiting pushes are answered as not sent. A push that is
/// refused because its provider token has expired is repeated once with a new token. Several topics
/// may use one client.
///
/// ```swift
/// let client = APNsClient(configuration, loop: loop)
/// client.send(push) { result in … }
/// await client.close()
/// ```
///
/// A client with a connection stays alive until it is closed. Unchecked: the intake's lock guards a
/// part of the state, and only the loop's thread uses the rest.
public final class APNsClient: @unchecked Sendable {
  public typealias Completion = @Sendable (APNsResult) -> Void

  let configuration: Configuration
  let loop: EventLoop
  let clock: @Sendable () -> Timestamp
  let random: @Sendable () -> Double
  let intake: APNsClientIntake

  var pool: APNsConnectionPool
  var queue = FIFO<PushItem>()
  /// Changes since the metrics were last published.
  var events = LoopEvents()
  var isPumpScheduled = false
  var isLookScheduled = false
  var isIdleCheckScheduled = false
  /// Every open connection by its number: those in use, and those that still await answers.
  var connections: [Int: HTTP2ClientConnection] = [:]
  var closers: [@Sendable () -> Void] = []

  /// - Parameters:
  ///   - loop: the loop of the connections; several clients may share one. It must not be shut down
  ///     before the client is closed.
  ///   - random: numbers in 0 ..< 1, for the random part of delays.
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

  /// Sends a push.
  ///
  /// The completion is called once and must not block. It is called on the loop's thread, or before
  /// this method returns if too many pushes wait or the client is closed.
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

  public var metrics: Metrics { intake.metrics }

  /// Pushes that wait for a connection or a free stream.
  public var waitingCount: Int { metrics.waiting }

  /// Ends the connections when all sent pushes are answered, after ``Configuration/closeTimeout``
  /// at the latest. Waiting and later pushes are answered as not sent. When this returns, every
  /// completion has been called.
  public func close() async {
    await withCheckedContinuation { continuation in
      let isRunning = loop.execute { self.close { continuation.resume() } }
      if !isRunning {
        refuseIncoming()
        continuation.resume()
      }
    }
  }

  /// Without a loop, nothing can be sent.
  private func refuseIncoming() {
    let items = intake.close()
    intake.update { metrics in
      metrics.waiting -= items.count
      metrics.notSent += items.count
    }
    for item in items { item.completion(.notSent("the client's event loop is shut down")) }
  }
}
