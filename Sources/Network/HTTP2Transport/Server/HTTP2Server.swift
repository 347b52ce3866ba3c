import Foundation
import Synchronization

/// An HTTP/2 server over TLS (RFC 9113), made to stand in for others: it can be told to misbehave.
///
/// The handler gets whole requests on the server's own thread and must not block; it may answer
/// there, or later from any thread.
///
/// ```swift
/// let server = try HTTP2Server(configuration) { request in
///   request.respond(status: 200, headers: ["apns-id": "…"])
/// }
/// try server.start()
/// server.goAway(connection, lastStream: 7)
/// await server.stop()
/// ```
///
/// Unchecked: what is not behind the lock is touched on the loop's thread only.
public final class HTTP2Server: @unchecked Sendable {
  public typealias Handler = @Sendable (HTTP2ServerRequest) -> Void

  public enum Event: Sendable, Hashable {
    /// A client has finished the TLS handshake.
    case opened(HTTP2ConnectionID)
    /// A client was asked for a certificate and has shown this one, or none. Comes before
    /// ``opened(_:)``.
    case identified(HTTP2ConnectionID, TLSPeerCertificate?)
    /// A connection is gone. Nil after an orderly end.
    case closed(HTTP2ConnectionID, HTTP2Error?)
  }

  /// How to end a connection.
  public enum Closing: Sendable {
    /// GOAWAY, and the end when the requests that were taken up are answered.
    case whenAnswered
    /// The connection breaks off without a word.
    case atOnce
  }

  /// What the TLS handshake of a client comes to.
  public enum Handshake: Sendable, Hashable {
    /// The server breaks it off.
    case refused
    /// The server shows another certificate than its own.
    case presenting(TLSIdentity)
  }

  private struct Shared {
    var port = 0
    var connections: Set<HTTP2ConnectionID> = []
  }

  let configuration: HTTP2ServerConfiguration
  let handler: Handler
  let loop: EventLoop
  private let onEvent: @Sendable (Event) -> Void
  private let tls: TLSContext
  private let shared = Mutex(Shared())

  private var listener: ListeningSocket?
  private var connections: [HTTP2ConnectionID: HTTP2ServerConnection] = [:]
  private var lastConnection: UInt64 = 0
  private var maximumConcurrentStreams: Int
  private var readDelay: Duration?
  /// Of the next connections, in their order.
  private var handshakes = FIFO<Handshake>()

  /// Prepares a server with a thread of its own.
  ///
  /// - Parameter onEvent: called on the server's thread.
  /// - Throws: ``HTTP2Error/Code/invalidConfiguration`` if the certificate or the key cannot be used.
  public init(
    _ configuration: HTTP2ServerConfiguration,
    onEvent: @escaping @Sendable (Event) -> Void = { _ in },
    handler: @escaping Handler
  ) throws(HTTP2Error) {
    self.configuration = configuration
    self.handler = handler
    self.onEvent = onEvent
    maximumConcurrentStreams = configuration.maximumConcurrentStreams
    readDelay = configuration.readDelay
    tls = try TLSContext.server(
      configuration.identity, clientAuthorityPEM: configuration.clientAuthorityPEM)
    loop = try EventLoop(name: "http2-server")
  }

  deinit {
    loop.shutDown()
  }

  /// Begins to listen. When this returns, clients can connect.
  ///
  /// A server is started once, and from then on lives until ``stop()``.
  /// - Throws: ``HTTP2Error/Code/notListening`` if the address is taken or is not this machine's.
  public func start() throws(HTTP2Error) {
    let descriptor = try Socket.listening(host: configuration.host, port: configuration.port)
    shared.withLock { $0.port = SocketAddress.localPort(of: descriptor) }
    loop.execute {
      let listener = ListeningSocket(loop: self.loop, descriptor: descriptor) { self.accept($0) }
      self.listener = listener
      listener.start()
    }
  }

  /// The port that the server listens on; zero before it was started.
  public var port: Int { shared.withLock(\.port) }

  /// The connections that are open now.
  public var openConnections: [HTTP2ConnectionID] { shared.withLock { $0.connections.sorted() } }

  /// Breaks all connections off, gives the port back and ends the thread.
  public func stop() async {
    await withCheckedContinuation { continuation in
      let isRunning = loop.execute {
        self.listener?.close()
        self.listener = nil
        for connection in self.connections.values { connection.close(.atOnce) }
        self.loop.shutDown()
        continuation.resume()
      }
      if !isRunning { continuation.resume() }
    }
  }

  // MARK: Faults, and other things that real servers do

  /// Changes how many requests a client may have open (SETTINGS).
  ///
  /// Streams that are open stay. Those that a client opens before it has seen the change are
  /// refused (REFUSED_STREAM).
  /// - Parameter connection: nil for all connections, those to come among them.
  public func setMaximumConcurrentStreams(_ count: Int, for connection: HTTP2ConnectionID? = nil) {
    loop.execute {
      if connection == nil { self.maximumConcurrentStreams = count }
      for (id, open) in self.connections where connection == nil || connection == id {
        open.setMaximumConcurrentStreams(count)
      }
    }
  }

  /// Changes how slowly the server takes in what clients of connections to come send
  /// (``HTTP2ServerConfiguration/readDelay``).
  public func setReadDelay(_ delay: Duration?) {
    loop.execute { self.readDelay = delay }
  }

  /// Lets the TLS handshakes of the next connections go otherwise than well, one each, after those
  /// that were asked for before.
  public func script(_ handshakes: [Handshake]) {
    loop.execute { self.handshakes.append(contentsOf: handshakes) }
  }

  /// Sends GOAWAY.
  ///
  /// - Parameters:
  ///   - lastStream: requests on higher streams are forgotten, though they may have reached the
  ///     handler; nil for the last one that has come. It must be the ID of a request or zero.
  ///   - debugData: for people, or as APNs does a JSON object with a reason.
  public func goAway(
    _ connection: HTTP2ConnectionID, lastStream: Int32? = nil, code: HTTP2ErrorCode = .noError,
    debugData: [UInt8] = []
  ) {
    withConnection(connection) {
      $0.goAway(lastStream: lastStream, code: code, debugData: debugData)
    }
  }

  /// Breaks a request off (RST_STREAM).
  public func reset(
    stream: Int32, of connection: HTTP2ConnectionID, code: HTTP2ErrorCode = .internalError
  ) {
    withConnection(connection) { $0.reset(stream: stream, code: code) }
  }

  public func close(_ connection: HTTP2ConnectionID, _ closing: Closing) {
    withConnection(connection) { $0.close(closing) }
  }

  /// Stops reading from and writing to a client, as if the network had swallowed it.
  public func stall(_ connection: HTTP2ConnectionID) {
    withConnection(connection) { $0.stall() }
  }

  /// Goes on after ``stall(_:)``.
  public func resume(_ connection: HTTP2ConnectionID) {
    withConnection(connection) { $0.resume() }
  }

  /// Runs `body` on the loop unless the connection is gone.
  private func withConnection(
    _ id: HTTP2ConnectionID, _ body: @escaping @Sendable (HTTP2ServerConnection) -> Void
  ) {
    loop.execute {
      if let connection = self.connections[id] { body(connection) }
    }
  }

  // MARK: Connections, on the loop's thread

  private func accept(_ descriptor: Int32) {
    guard connections.count < configuration.maximumConnections,
      // It closes the descriptor when it fails; there is nobody to tell.
      let stream = try? TLSStream(server: contextForNext(), descriptor: descriptor)
    else {
      if connections.count >= configuration.maximumConnections { Foundation.close(descriptor) }
      return
    }
    lastConnection += 1
    let id = HTTP2ConnectionID(rawValue: lastConnection)
    let connection = HTTP2ServerConnection(
      id: id, server: self, maximumConcurrentStreams: maximumConcurrentStreams,
      readDelay: readDelay)
    connections[id] = connection
    connection.start(stream)
  }

  private func contextForNext() throws(HTTP2Error) -> TLSContext {
    switch handshakes.popFirst() {
    case nil: tls
    case .refused: try .refusing(configuration.identity)
    case .presenting(let identity): try .server(identity)
    }
  }

  func connectionOpened(_ id: HTTP2ConnectionID, certificate: TLSPeerCertificate?) {
    if configuration.clientAuthorityPEM != nil { onEvent(.identified(id, certificate)) }
    shared.withLock { _ = $0.connections.insert(id) }
    onEvent(.opened(id))
  }

  func connectionClosed(_ id: HTTP2ConnectionID, _ error: HTTP2Error?, wasOpen: Bool) {
    connections[id] = nil
    guard wasOpen else { return }
    shared.withLock { _ = $0.connections.remove(id) }
    onEvent(.closed(id, error))
  }
}
