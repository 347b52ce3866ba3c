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
    var reception: BodyReception
    var body = Data()
    /// The file that gets the body; `nil` if the body stays in memory.
    var bodyFile: HTTPBodyFile?
    /// Whether the body is complete.
    var isReceived = false
    /// Whether the request has one of the places for requests.
    var hasPlace = false
    /// Whether the answer that is being sent comes from the handler.
    var isAnswered = false
    var refusal: HTTPRefusal?
    /// See ``HTTPResponse/ifUnsent``; `nil` if the answer that is being sent has none.
    var ifUnsent: (@Sendable () -> Void)?
    /// The bytes of the answer that are counted as buffered.
    var answerSize = 0
  }

  /// The state that several threads use, behind the lock.
  struct Shared {
    var exchange = ExchangeState()
    var response: HTTPResponse?
    var task: Task<Void, Never>?
    var stream: ResponseStream?
    /// The request that ``DisconnectWatch`` last saw waiting, and the time when it first did.
    var waiting: (number: UInt64, since: ContinuousClock.Instant)?
    var pace = Pace(at: .now)
    /// The connection's place among all connections; `nil` after the close.
    var ticket: ConnectionAdmission.Ticket?
    /// Whether the descriptor still belongs to this connection.
    var isOpen = true
  }

  let server: HTTPServer
  let native: NativeConnection
  let loop: LoopContext
  /// The numeric address of the client; empty for a socket file.
  let remoteAddress: String
  /// Whether the client connected to the server's ``SocketFile``.
  let isOfSocketFile: Bool
  var incoming: Incoming
  let shared = Mutex(Shared())

  /// Takes over a connection of the library, with the place that the acceptor took for it.
  init(server: HTTPServer, native: NativeConnection, loop: LoopContext) {
    self.server = server
    self.native = native
    self.loop = loop
    remoteAddress = native.remoteAddress
    isOfSocketFile = native.isOfSocketFile
    incoming = Incoming(reception: BodyReception(limit: server.configuration.maximumBodySize))
    let ticket = server.places?.ticket(ofDescriptor: native.descriptor)
    shared.withLock { $0.ticket = ticket }
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
  ///
  /// - Parameter isComplete: whether the whole answer was sent.
  func end(isComplete: Bool) {
    let counters = server.counters
    let (stream, unsent) = shared.withLock { shared in
      _ = shared.exchange.handle(.ended)
      shared.pace.handle(.exchangeEnded, at: .now)
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
    _ = counters.bufferedBytes.add(-incoming.answerSize)
    incoming.answerSize = 0
    incoming.isUnasked = false
    guard incoming.head != nil else {
      if incoming.isRefusedUnasked { return }
      // The library answered by itself, or the client left before the end of its header fields.
      if isComplete { counters.countRefusal(.malformed) }
      return
    }
    incoming.head = nil
    releaseBody()
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

  /// Releases the body and its bytes in the counters.
  func releaseBody() {
    _ = server.counters.bufferedBytes.add(-incoming.body.count)
    incoming.body = Data()
    guard let file = incoming.bodyFile else { return }
    _ = server.counters.spooledBytes.add(-file.size)
    incoming.bodyFile = nil
  }
}
