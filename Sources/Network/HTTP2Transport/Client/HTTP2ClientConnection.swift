import CNgHTTP2
import Foundation

/// One HTTP/2 connection over TLS to a server (RFC 9113), made for many small requests.
///
/// Any thread may give requests, from the start: they wait until the connection is open and the
/// peer allows another stream. Completions run on the loop's thread and must not block. A
/// connection connects once; after its end, create another.
///
/// ```swift
/// let connection = try HTTP2ClientConnection(configuration, loop: loop) { event in … }
/// connection.start()
/// connection.send(HTTP2Request(method: "GET", path: "/")) { result in … }
/// ```
///
/// A started connection stays alive until one side closes it.
///
/// Unchecked: the intake has its own lock; all other mutable state is used on the loop's thread
/// only.
public final class HTTP2ClientConnection: @unchecked Sendable {
  /// A function that gets the result of a request, once.
  public typealias Completion = @Sendable (Result<HTTP2Response, HTTP2Error>) -> Void

  /// A change in the life of a connection. Events come in the order in which they happen.
  public enum Event: Sendable, Hashable {
    /// The peer's first settings came, so requests go out. The number is the limit of concurrent
    /// requests.
    case opened(maximumConcurrentStreams: Int)
    /// The peer changed the number of concurrent requests.
    case limitChanged(maximumConcurrentStreams: Int)
    /// The peer takes no more requests (GOAWAY). Waiting requests and those on streams above
    /// `lastStream` fail as safe to repeat. The peer still answers the others.
    case goingAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8])
    /// The connection has ended. It is the last event; the error is `nil` after an orderly end.
    case closed(HTTP2Error?)
  }

  /// The number of requests on a connection.
  public struct Load: Sendable, Hashable {
    /// The requests without a stream.
    public internal(set) var waiting = 0
    /// The requests that have a stream.
    public internal(set) var openStreams = 0
    /// The limit of concurrent streams; zero before the connection is open.
    public internal(set) var maximumStreams = 0
  }

  /// A way to end a connection.
  public enum Closing: Sendable {
    /// Ends the connection after the answers to all requests that it has.
    case whenAnswered
    /// Ends the connection now. Sent requests fail with an unknown fate
    /// (``HTTP2Error/isSafeToRepeat`` is `false`).
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
  /// The requests that the loop has collected and that have no stream.
  var waiting = FIFO<PendingRequest>()
  /// Whether a task on the loop is going to send the waiting requests.
  var isCollectionScheduled = false
  var streams = SlotTable<ClientStream>()
  var keepAlive: KeepAlive
  var allowance = InputAllowance()
  var connectTimer: ScheduledTimer?
  var keepAliveTimer: ScheduledTimer?
  var overdueTimer: ScheduledTimer?
  /// The reason why the connection sends no more requests while it is still open; `nil` while it
  /// does.
  var ending: HTTP2Error?
  /// The lowest last stream of all GOAWAY frames of the peer.
  var lastStreamOfPeer = Int32.max
  /// The limit of concurrent streams: the lower one of the peer's and the configuration's.
  var maximumStreams = 0

  /// Creates a connection that is not started.
  ///
  /// - Parameters:
  ///   - loop: the loop whose thread runs the connection; it must outlive the connection.
  ///   - onEvent: receives the events, on the loop's thread.
  /// - Throws: ``HTTP2Error/Code/invalidConfiguration`` if the trusted certificates or the client's
  ///   own one cannot be used.
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

  /// Begins to connect. The events report the result.
  public func start() {
    loop.execute { self.connect() }
  }

  /// Sends a request, or queues it until a stream is free.
  ///
  /// The completion gets the whole answer, with any status, or an error that says whether the
  /// request is safe to repeat. It runs once. Usually it runs on the loop's thread. It runs before
  /// this method returns if the queue is full or the connection is ending.
  public func send(_ request: HTTP2Request, completion: @escaping Completion) {
    let pending = PendingRequest(request: request, completion: completion)
    if loop.isCurrent { return take(pending) }
    switch intake.enter(pending) {
    case .wake: loop.execute { self.collect() }
    case .taken: break
    case .rejected(let error): completion(.failure(error))
    }
  }

  /// The number of requests on the connection, readable from any thread.
  public var load: Load { intake.load }

  /// Ends the connection; it rejects later requests.
  public func close(_ closing: Closing) {
    loop.execute {
      switch closing {
      case .whenAnswered: self.endWhenAnswered()
      case .atOnce: self.end(HTTP2Error(.closed, "the connection was closed"))
      }
    }
  }
}
