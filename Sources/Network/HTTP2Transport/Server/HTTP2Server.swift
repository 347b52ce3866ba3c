import Foundation
import Synchronization

/// An HTTP/2 server over TLS (RFC 9113) that imitates another server, such as APNs. It can produce
/// faults on request.
///
/// The handler gets whole requests on the server's own thread and must not block. A request may be
/// answered there, or later from any thread.
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
/// All public methods may be called from any thread. A method that changes a connection returns at
/// once; the server's thread makes the changes soon after, in the order of the calls.
///
/// Unchecked: a lock protects `shared`; all other state is used on the loop's thread only.
public final class HTTP2Server: @unchecked Sendable {
  /// A function that gets each whole request, on the server's thread. It must not block.
  public typealias Handler = @Sendable (HTTP2ServerRequest) -> Void

  /// A change in the life of a connection.
  public enum Event: Sendable, Hashable {
    /// The TLS handshake with a client has succeeded.
    case opened(HTTP2ConnectionID)
    /// The certificate of a client, which may be invalid; `nil` if the client presented none. This
    /// event comes before ``opened(_:)``, and only with
    /// ``HTTP2ServerConfiguration/clientAuthorityPEM``.
    case identified(HTTP2ConnectionID, TLSPeerCertificate?)
    /// A connection has ended after its ``opened(_:)``. The error is `nil` after an orderly end.
    case closed(HTTP2ConnectionID, HTTP2Error?)
  }

  /// A way to end a connection.
  public enum Closing: Sendable {
    /// Sends GOAWAY, and closes the connection after the answers to the requests that have come.
    case whenAnswered
    /// Closes the socket without GOAWAY.
    case atOnce
  }

  /// An unusual TLS handshake, for tests (``script(_:)``).
  public enum Handshake: Sendable, Hashable {
    /// The server ends the handshake with an alert.
    case refused
    /// The server presents this certificate in place of its own, and asks for no client
    /// certificate.
    case presenting(TLSIdentity)
  }

  /// The state that any thread may read, behind the lock.
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

  private var listener: HTTP2Listener?
  private var connections: [HTTP2ConnectionID: HTTP2ServerConnection] = [:]
  private var lastConnection: UInt64 = 0
  /// The limit of open requests for later connections (``setMaximumConcurrentStreams(_:for:)``).
  private var maximumConcurrentStreams: Int
  /// The delay for later connections (``setReadDelay(_:)``).
  private var readDelay: Duration?
  /// The unusual handshakes of the next connections, one for each (``script(_:)``).
  private var handshakes = FIFO<Handshake>()

  /// Creates a server with a thread of its own. The server accepts no connections before
  /// ``start()``.
  ///
  /// The server calls `onEvent` and `handler` on its own thread.
  /// - Throws: ``HTTP2Error/Code/invalidConfiguration`` if the certificate or the key cannot be
  ///   used.
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

  /// Begins to listen. Clients can connect as soon as the call returns.
  ///
  /// Call this method once. The server then stays alive until ``stop()``.
  ///
  /// - Throws: ``HTTP2Error/Code/notListening`` if the address is taken or is not of this machine,
  ///   ``HTTP2Error/Code/nameNotResolved`` if the host is not an IP address,
  ///   ``HTTP2Error/Code/systemFailure`` if no socket can be created.
  public func start() throws(HTTP2Error) {
    let descriptor = try Socket.listening(host: configuration.host, port: configuration.port)
    shared.withLock { $0.port = SocketAddress.localPort(of: descriptor) }
    loop.execute {
      let listener = HTTP2Listener(loop: self.loop, descriptor: descriptor) { self.accept($0) }
      self.listener = listener
      listener.start()
    }
  }

  /// The port that the server listens on; zero before ``start()``.
  public var port: Int { shared.withLock(\.port) }

  /// The connections that are open now, in the order of their creation.
  public var openConnections: [HTTP2ConnectionID] { shared.withLock { $0.connections.sorted() } }

  /// Closes all connections at once, releases the port and ends the thread. Requests without an
  /// answer stay unanswered.
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

  /// Changes the number of requests that a client may have open (SETTINGS_MAX_CONCURRENT_STREAMS).
  ///
  /// Open requests continue. If a client opens more streams before it receives the new limit, the
  /// server refuses the streams above the limit (REFUSED_STREAM).
  /// - Parameter connection: the connection to change; `nil` for all present and later ones.
  public func setMaximumConcurrentStreams(_ count: Int, for connection: HTTP2ConnectionID? = nil) {
    loop.execute {
      if connection == nil { self.maximumConcurrentStreams = count }
      for (id, open) in self.connections where connection == nil || connection == id {
        open.setMaximumConcurrentStreams(count)
      }
    }
  }

  /// Changes ``HTTP2ServerConfiguration/readDelay`` for later connections.
  public func setReadDelay(_ delay: Duration?) {
    loop.execute { self.readDelay = delay }
  }

  /// Adds unusual handshakes to a list. Each new connection uses the first one of the list and
  /// removes it; without one, its handshake is a usual one.
  public func script(_ handshakes: [Handshake]) {
    loop.execute { self.handshakes.append(contentsOf: handshakes) }
  }

  /// Sends GOAWAY.
  ///
  /// - Parameters:
  ///   - lastStream: the ID of the last request that the server answers, or zero. The server closes
  ///     the higher streams, even if the handler has received their requests. `nil` means the last
  ///     request that came.
  ///   - code: the reason that the frame gives.
  ///   - debugData: text for a person, or a JSON object with the reason, as APNs sends it.
  public func goAway(
    _ connection: HTTP2ConnectionID, lastStream: Int32? = nil, code: HTTP2ErrorCode = .noError,
    debugData: [UInt8] = []
  ) {
    withConnection(connection) {
      $0.goAway(lastStream: lastStream, code: code, debugData: debugData)
    }
  }

  /// Cancels one request (RST_STREAM).
  public func reset(
    stream: Int32, of connection: HTTP2ConnectionID, code: HTTP2ErrorCode = .internalError
  ) {
    withConnection(connection) { $0.reset(stream: stream, code: code) }
  }

  /// Ends a connection. Does nothing if the connection is closed.
  public func close(_ connection: HTTP2ConnectionID, _ closing: Closing) {
    withConnection(connection) { $0.close(closing) }
  }

  /// Stops reading from and writing to a client, which simulates a dead network.
  public func stall(_ connection: HTTP2ConnectionID) {
    withConnection(connection) { $0.stall() }
  }

  /// Reads and writes again after ``stall(_:)``.
  public func resume(_ connection: HTTP2ConnectionID) {
    withConnection(connection) { $0.resume() }
  }

  /// Runs `body` on the loop, unless the connection is closed by then.
  private func withConnection(
    _ id: HTTP2ConnectionID, _ body: @escaping @Sendable (HTTP2ServerConnection) -> Void
  ) {
    loop.execute {
      if let connection = self.connections[id] { body(connection) }
    }
  }

  // MARK: Connections, on the loop's thread

  /// Begins a connection. Closes the socket if too many are open or TLS cannot be set up for it.
  private func accept(_ descriptor: Int32) {
    guard connections.count < configuration.maximumConnections,
      // The certificate of a `presenting` handshake may be unusable. The server then closes the
      // connection.
      let context = try? contextForNext()
    else {
      Foundation.close(descriptor)
      return
    }
    // A failed `TLSStream` closes the descriptor, and no caller waits for the error.
    guard let stream = try? TLSStream(server: context, descriptor: descriptor) else { return }
    lastConnection += 1
    let id = HTTP2ConnectionID(rawValue: lastConnection)
    let connection = HTTP2ServerConnection(
      id: id, server: self, maximumConcurrentStreams: maximumConcurrentStreams,
      readDelay: readDelay)
    connections[id] = connection
    connection.start(stream)
  }

  /// Takes the unusual handshake of the next connection, if there is one, from the list.
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
