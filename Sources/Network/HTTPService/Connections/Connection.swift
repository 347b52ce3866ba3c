import CMicroHTTPD
import Foundation
import Synchronization

/// An open connection and the request that it is about.
final class Connection: @unchecked Sendable {
  // Unchecked: `incoming` is touched by the connection's event loop alone, all else is constant
  // or behind the lock.

  /// What the event loop knows of the request while it arrives.
  struct Incoming {
    var target = ""
    /// Whether the request line was read, and the library has not asked about the head yet.
    var isUnasked = false
    /// Whether a request was refused that the library never asked about.
    var isRefusedUnasked = false
    var head: RequestHead?
    var reception: BodyReception
    var body = Data()
    /// Where the body goes instead, if it does.
    var bodyFile: HTTPBodyFile?
    /// Whether the body is there whole.
    var isReceived = false
    /// Whether the request holds one of the places of requests under way.
    var hasPlace = false
    /// Whether the handler's own answer is what is sent.
    var isAnswered = false
    var refusal: HTTPRefusal?
    /// Bytes of the answer that are counted as buffered.
    var answerSize = 0
  }

  struct Shared {
    var exchange = ExchangeState()
    var response: HTTPResponse?
    var task: Task<Void, Never>?
    var stream: ResponseStream?
    /// The request that waited when the disconnect watch last came by, and when that first saw it wait.
    var waiting: (number: UInt64, since: ContinuousClock.Instant)?
    var pace = Pace(at: .now)
    /// Its place among all connections.
    var ticket: ConnectionAdmission.Ticket?
    /// Whether the descriptor is this connection's still.
    var isOpen = true
  }

  let server: HTTPServer
  let native: NativeConnection
  let loop: LoopContext
  let remoteAddress: String
  let isOfSocketFile: Bool
  var incoming: Incoming
  let shared = Mutex(Shared())

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

  // MARK: The life of a request, as the event loop tells it

  /// The request line is read.
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

  /// The answer is sent, or the connection broke.
  func end(isComplete: Bool) {
    let counters = server.counters
    let stream = shared.withLock { shared in
      _ = shared.exchange.handle(.ended)
      shared.pace.handle(.exchangeEnded, at: .now)
      shared.response = nil
      shared.task = nil
      defer { shared.stream = nil }
      return shared.stream
    }
    stream?.cut()
    _ = counters.bufferedBytes.add(-incoming.answerSize)
    incoming.answerSize = 0
    incoming.isUnasked = false
    guard incoming.head != nil else {
      if incoming.isRefusedUnasked { return }
      // The library answered by itself, or the client left amid its headers.
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

  func releaseBody() {
    _ = server.counters.bufferedBytes.add(-incoming.body.count)
    incoming.body = Data()
    guard let file = incoming.bodyFile else { return }
    _ = server.counters.spooledBytes.add(-file.size)
    incoming.bodyFile = nil
  }
}
