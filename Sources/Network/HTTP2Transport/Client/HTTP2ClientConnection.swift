import CNgHTTP2
import Foundation

/// One HTTP/2 connection over TLS to a server (RFC 9113), made for many small requests.
///
/// Requests may be given from any thread, from the beginning: they wait until the connection is open
/// and the peer allows another stream. Their completions are called on the loop's thread and must
/// not block. A connection connects once; when it is closed, make another.
///
/// ```swift
/// let connection = try HTTP2ClientConnection(configuration, loop: loop) { event in … }
/// connection.start()
/// connection.send(HTTP2Request(method: "GET", path: "/")) { result in … }
/// ```
///
/// A connection that was started stays alive until it is closed, by either side. Unchecked: what is
/// not behind the intake's lock is touched on the loop's thread only.
public final class HTTP2ClientConnection: @unchecked Sendable {
  public typealias Completion = @Sendable (Result<HTTP2Response, HTTP2Error>) -> Void

  /// What happens to a connection, in the order in which it happens.
  public enum Event: Sendable, Hashable {
    /// The peer's first settings have come; requests go out. The number is how many at a time.
    case opened(maximumConcurrentStreams: Int)
    /// The peer has changed how many requests it takes at a time.
    case limitChanged(maximumConcurrentStreams: Int)
    /// The peer takes no more requests (GOAWAY). Those on streams above `lastStream` and those that
    /// waited have failed as safe to repeat; the others will still be answered.
    case goingAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8])
    /// The connection is gone; always the last event. Nil after an orderly end.
    case closed(HTTP2Error?)
  }

  /// How full a connection is.
  public struct Load: Sendable, Hashable {
    /// Requests that have no stream yet.
    public internal(set) var waiting = 0
    /// Requests that have no answer yet.
    public internal(set) var openStreams = 0
    /// How many streams may be open at a time; zero before the connection is open.
    public internal(set) var maximumStreams = 0
  }

  /// How to end a connection.
  public enum Closing: Sendable {
    /// After the answers to all requests that were given.
    case whenAnswered
    /// Now. Open requests fail with an unknown fate.
    case atOnce
  }

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
  let authority: [UInt8]

  var phase = Phase.idle
  var waiting = FIFO<PendingRequest>()
  /// Whether the loop will look at what waits.
  var isCollectionScheduled = false
  var streams = SlotTable<ClientStream>()
  var keepAlive: KeepAlive
  var allowance = InputAllowance()
  var connectTimer: ScheduledTimer?
  var keepAliveTimer: ScheduledTimer?
  var overdueTimer: ScheduledTimer?
  /// Why no more requests go out on this connection, though it is still open.
  var ending: HTTP2Error?
  var lastStreamOfPeer = Int32.max
  var maximumStreams = 0

  /// Prepares a connection.
  ///
  /// - Parameters:
  ///   - loop: the loop it lives on, which must outlive it.
  ///   - onEvent: called on the loop's thread.
  /// - Throws: ``HTTP2Error/Code/invalidConfiguration`` if the trusted certificates cannot be read or
  ///   the own one cannot be used.
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

  /// Begins to connect. What comes of it is told as an event.
  public func start() {
    loop.execute { self.connect() }
  }

  /// Gives a request.
  ///
  /// The completion gets the whole answer, of any status, or an error, which says whether the
  /// request is safe to repeat. It is called once: on the loop's thread, or before this returns if
  /// the request is refused because too many wait or because the connection is ending.
  public func send(_ request: HTTP2Request, completion: @escaping Completion) {
    let pending = PendingRequest(request: request, completion: completion)
    if loop.isCurrent { return take(pending) }
    switch intake.enter(pending) {
    case .wake: loop.execute { self.collect() }
    case .taken: break
    case .rejected(let error): completion(.failure(error))
    }
  }

  public var load: Load { intake.load }

  /// Ends the connection; later requests are refused.
  public func close(_ closing: Closing) {
    loop.execute {
      switch closing {
      case .whenAnswered: self.endWhenAnswered()
      case .atOnce: self.end(HTTP2Error(.closed, "the connection was closed"))
      }
    }
  }
}
