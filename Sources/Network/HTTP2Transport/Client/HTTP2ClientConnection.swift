import CNgHTTP2
import Foundation

/// One HTTP/2 connection over TLS to a server (RFC 9113), made for many small requests.
///
/// Any thread may send requests, also before the connection is open. A request waits until the
/// connection is open and the peer allows another stream. Completions run on the loop's thread and
/// must not block. A connection connects once. After the end of a connection, create another.
///
/// ```swift
/// let connection = try HTTP2ClientConnection(configuration, loop: loop) { event in … }
/// connection.start()
/// connection.send(HTTP2Request(method: "GET", path: "/")) { result in … }
/// ```
///
/// A started connection stays alive until it is closed.
///
/// Unchecked: the intake has its own lock; all other mutable state is used on the loop's thread
/// only.
public final class HTTP2ClientConnection: @unchecked Sendable {
  /// A function that gets the result of a request, once.
  public typealias Completion = @Sendable (Result<HTTP2Response, HTTP2Error>) -> Void

  /// A change in the life of a connection. Events come in the order in which they happen.
  public enum Event: Sendable, Hashable {
    /// The peer's first settings came, so the client now sends requests. The number is the limit of
    /// concurrent requests.
    case opened(maximumConcurrentStreams: Int)
    /// The peer changed the limit of concurrent requests.
    case limitChanged(maximumConcurrentStreams: Int)
    /// The connection accepts no more requests: the peer sent GOAWAY, or all stream IDs are used.
    /// Waiting requests and requests on streams above `lastStream` fail as safe to repeat. The peer
    /// still answers the other requests. When the IDs are used up, `lastStream` is `Int32.max`.
    case goingAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8])
    /// The connection has ended. This is the last event. The error is `nil` after an orderly end.
    case closed(HTTP2Error?)
  }

  /// The numbers of requests of a connection.
  public struct Load: Sendable, Hashable {
    /// The number of requests that wait for a stream.
    public internal(set) var waiting = 0
    /// The number of requests that have a stream.
    public internal(set) var openStreams = 0
    /// The limit of concurrent streams; zero before the connection is open.
    public internal(set) var maximumStreams = 0
  }

  /// A way to end a connection.
  public enum Closing: Sendable {
    /// Ends the connection after all its requests, also the waiting ones, are answered.
    case whenAnswered
    /// Ends the connection now. All requests fail. For a request that was sent,
    /// ``HTTP2Error/isSafeToRepeat`` is `false`, because the peer may have processed it.
    case atOnce
  }

  /// The phases of a connection, in their order. `tunnelling` occurs only with a proxy.
  enum Phase {
    case idle
    case connecting(SocketConnector)
    case tunnelling(ProxyTunnel)
    case settingUp(HTTP2Channel)
    case open(HTTP2Channel)
    case closed
  }

  let configuration: HTTP2ClientConfiguration
  let loop: EventLoop
  let tls: TLSContext
  let intake: ClientIntake
  let onEvent: @Sendable (Event) -> Void
  /// The `:authority` of all requests, in UTF-8.
  let authority: [UInt8]

  var phase = Phase.idle
  /// The requests that the loop has collected and that wait for a stream.
  var waiting = FIFO<PendingRequest>()
  var isCollectionScheduled = false
  var streams = StreamSlots<ClientStream>()
  var keepAlive: KeepAlive
  var allowance = InputAllowance()
  var connectTimer: ScheduledTimer?
  var keepAliveTimer: ScheduledTimer?
  var overdueTimer: ScheduledTimer?
  /// The error for later requests while the connection is ending.
  var ending: HTTP2Error?
  /// The lowest `lastStream` of all GOAWAY frames of the peer; `Int32.max` before the first one.
  var lastStreamOfPeer = Int32.max
  /// The lower of the peer's limit and the configuration's; 0 before the connection is open.
  var maximumStreams = 0

  /// Creates a connection that is not started.
  ///
  /// - Parameters:
  ///   - loop: the loop whose thread runs the connection. The loop must run until the connection is
  ///     closed.
  ///   - onEvent: receives the events, on the loop's thread.
  /// - Throws: ``HTTP2Error/Code/invalidConfiguration`` if the trusted certificates or the client's
  ///   certificate cannot be used.
  public init(
    _ configuration: HTTP2ClientConfiguration, loop: EventLoop,
    onEvent: @escaping @Sendable (Event) -> Void
  ) throws(HTTP2Error) {
    self.configuration = configuration
    self.loop = loop
    self.onEvent = onEvent
    tls = try TLSContext.client(trust: configuration.trust, identity: configuration.identity)
    intake = ClientIntake(maximumWaiting: configuration.maximumWaitingRequests)
    authority = Array(configuration.authority.utf8)
    keepAlive = KeepAlive(intervals: configuration.keepAliveIntervals, now: 0)
  }

  /// Begins to connect. The event `opened` or `closed` reports the result.
  public func start() {
    loop.execute { self.connect() }
  }

  /// Sends a request, or queues it until a stream is free.
  ///
  /// The completion gets the whole answer, with any status, or an error that says whether the
  /// request is safe to repeat. The completion runs once, usually on the loop's thread. If the
  /// queue is full or the connection is ending, the completion runs on the caller's thread before
  /// this method returns.
  public func send(_ request: HTTP2Request, completion: @escaping Completion) {
    let pending = PendingRequest(request: request, completion: completion)
    if loop.isCurrent { return take(pending) }
    switch intake.enter(pending) {
    case .wake: loop.execute { self.collect() }
    case .taken: break
    case .rejected(let error): completion(.failure(error))
    }
  }

  /// The present numbers of requests of the connection. Any thread may read them.
  public var load: Load { intake.load }

  /// Ends the connection. Later requests fail.
  public func close(_ closing: Closing) {
    loop.execute {
      switch closing {
      case .whenAnswered: self.endWhenAnswered()
      case .atOnce: self.end(HTTP2Error(.closed, "the connection was closed"))
      }
    }
  }
}
