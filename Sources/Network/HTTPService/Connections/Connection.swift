import CMicroHTTPD
import Foundation
import Synchronization

/// An open connection with the request that it is serving.
///
/// libmicrohttpd calls it on the thread of its event loop. The handler's task and the watches use
/// it from other threads.
final class Connection: @unchecked Sendable {
  // Unchecked: `incoming` is touched by the connection's event loop alone, all else is constant
  // or behind the lock.

  /// The request during its arrival, used by the event loop only.
  struct Incoming {
    var target = ""
    /// Whether the request line is read and the library has not called for the head yet.
    var isUnasked = false
    /// Whether the server refused a request for which the library never called.
    var isRefusedUnasked = false
    var head: RequestHead?
    /// The request without its body, for the handler.
    var request: HTTPRequest?
    /// Whether the handler is deciding about the head.
    var isExamined = false
    /// The handler's answer from the head, until it can be sent.
    var earlyAnswer: HTTPResponse?
    /// Answers the request with its body, after a decision about the head.
    var answer: (@Sendable (HTTPRequest) async -> HTTPResponse)?
    var reception: BodyReception
    var rules = RequestRules()
    /// The folder and the limits of a body that goes to a file; `nil` if the body stays in memory.
    var spooling: HTTPServer.Spooling?
    var bodyTime = Duration.zero
    var body = Data()
    /// The file that gets the body; `nil` if the body stays in memory, or none is awaited yet.
    var bodyFile: HTTPBodyFile?
    /// The bytes of the body and the answer that are in memory.
    var memory = ByteAdmission.Holding()
    /// The bytes of the body that are in its file.
    var file = ByteAdmission.Holding()
    /// Whether the body is complete.
    var isReceived = false
    /// Whether the request has one of the places for requests.
    var hasPlace = false
    /// Whether the answer that is being sent comes from the handler.
    var isAnswered = false
    var refusal: HTTPRefusal?
    /// See ``HTTPResponse/ifUnsent``.
    var ifUnsent: (@Sendable () -> Void)?
  }

  /// The state that several threads use, behind the lock.
  struct Shared {
    var exchange = ExchangeState()
    var decision: HTTPDecision?
    var response: HTTPResponse?
    var task: Task<Void, Never>?
    var stream: ResponseStream?
    /// The request that ``DisconnectWatch`` last saw waiting, and the time when it first did.
    var waiting: (number: UInt64, since: ContinuousClock.Instant)?
    var pace: Pace
    /// The connection's place among all connections; `nil` after the close.
    var ticket: ConnectionAdmission.Ticket?
    /// Whether the descriptor still belongs to this connection.
    var isOpen = true

    init(pace: Pace, ticket: ConnectionAdmission.Ticket?) {
      self.pace = pace
      self.ticket = ticket
    }
  }

  let server: HTTPServer
  let native: NativeConnection
  let loop: LoopContext
  /// The numeric address of the client; empty for a socket file.
  let remoteAddress: String
  let isOfSocketFile: Bool
  /// The client's host and network; `nil` for a proxy or a socket file.
  let peer: PeerAddress?
  var incoming: Incoming
  let shared: Mutex<Shared>

  /// Takes over a connection of the library, with the place that the acceptor took for it.
  init(server: HTTPServer, native: NativeConnection, loop: LoopContext) {
    self.server = server
    self.native = native
    self.loop = loop
    remoteAddress = native.remoteAddress
    isOfSocketFile = native.isOfSocketFile
    incoming = Incoming(reception: BodyReception(limit: server.configuration.maximumBodySize))
    let ticket = server.places?.ticket(ofDescriptor: native.descriptor)
    peer = ticket.flatMap { $0.isCapped ? $0.peer : nil }
    shared = Mutex(Shared(pace: Pace(server.configuration.paceLimits, at: .now), ticket: ticket))
  }

  // MARK: The life of a request, on the event loop

  /// Starts a request when its line is read.
  func begin(target: String) {
    incoming.target = target
    incoming.head = nil
    incoming.isUnasked = true
    incoming.isRefusedUnasked = false
    loop.begun = self
    shared.withLock { shared in
      _ = shared.exchange.handle(.began)
      shared.pace.handle(.lineReceived, at: .now)
    }
  }

  /// Ends the exchange: the answer is sent, or the connection broke.
  func end(isComplete: Bool) {
    let counters = server.counters
    let (stream, unsent) = shared.withLock { shared in
      _ = shared.exchange.handle(.ended)
      shared.pace.handle(.exchangeEnded, at: .now)
      shared.decision = nil
      shared.task = nil
      defer {
        shared.stream = nil
        shared.response = nil
      }
      return (shared.stream, shared.response)
    }
    stream?.cut()
    unsent?.ifUnsent?()
    if !isComplete { incoming.ifUnsent?() }
    incoming.ifUnsent = nil
    incoming.isUnasked = false
    incoming.isExamined = false
    incoming.earlyAnswer = nil
    incoming.answer = nil
    guard incoming.head != nil else {
      if incoming.isRefusedUnasked { return }
      // The library answered by itself, or the client left before the end of its header fields.
      if isComplete { counters.countRefusal(.malformed) }
      return
    }
    incoming.head = nil
    incoming.request = nil
    releaseBytes()
    if incoming.hasPlace {
      incoming.hasPlace = false
      counters.requestsUnderWay.decrement()
      if isComplete, incoming.isAnswered {
        counters.requestsServed.increment()
      } else if incoming.refusal == nil {
        counters.requestsBroken.increment()
      }
    }
    if counters.exchanges.add(-1) == 0 { server.exchangesEnded() }
  }

  func releaseBytes() {
    incoming.body = Data()
    incoming.bodyFile = nil
    if incoming.memory.count > 0 { server.memory.withLock { $0.giveBack(&incoming.memory) } }
    if incoming.file.count > 0 { server.files.withLock { $0.giveBack(&incoming.file) } }
  }
}
