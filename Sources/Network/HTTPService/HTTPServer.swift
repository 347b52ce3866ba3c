import Concurrency
import Foundation
import Synchronization

/// An HTTP/1.1 server (RFC 9110, RFC 9112) on GNU libmicrohttpd, without TLS. Put a proxy in front
/// of it where TLS is needed.
///
/// ```swift
/// let server = HTTPServer(configuration: .init()) { request in
///   HTTPResponse(body: .data(Data("You asked for \(request.path)\n".utf8)))
/// }
/// try server.start()
/// print("http://127.0.0.1:\(server.port)")
/// // …
/// await server.stop(within: .seconds(10))
/// ```
///
/// - The server calls the handler for every well-formed request, with any method, when the body is
///   complete. Each call runs in a task of its own.
/// - A handler in two parts (``init(configuration:examine:)``) sees the head of a request with a
///   large body before the server receives the body.
/// - A waiting connection needs no thread, so a long poll is a handler that takes its time.
/// - When the client closes the connection, the server cancels the handler's task within about two
///   seconds. A client that closes only its sending side counts as gone.
/// - Requests of one connection are handled one after the other.
/// - Between ``start()`` and the end of ``stop(within:)`` the server keeps itself alive.
public final class HTTPServer: Sendable {
  /// The parts of a running server.
  struct Running {
    var loops: [ConnectionLoop]
    var acceptors: [Acceptor]
    var places: ConnectionPlaces
    var limits: ConnectionAdmission.Limits
    var watch: DisconnectWatch
    var slowClients: SlowClientWatch
    var port: Int
  }

  /// The phases of a server's life. A server does not start again after a stop.
  enum Phase {
    case created
    case running(Running)
    case stopping(Task<Void, Never>, port: Int)
  }

  /// The address and the limits, fixed at creation.
  public let configuration: Configuration
  let handler: @Sendable (HTTPRequest) async -> HTTPResponse
  /// Decides about the head of a request with a large body; `nil` if every body is received.
  let examine: (@Sendable (HTTPRequest) async -> HTTPDecision)?
  let counters = Counters()
  let memory: Mutex<ByteAdmission>
  let files: Mutex<ByteAdmission>
  let registry = ConnectionRegistry()
  private let disconnects = BackgroundJob(
    "disconnected clients", of: "HTTPService", "every second")
  private let slowClients = BackgroundJob("slow clients", of: "HTTPService", "every second")
  private let currentPlaces = Mutex<ConnectionPlaces?>(nil)
  let phase = Mutex(Phase.created)
  let drain = Drain()
  /// The decision whether the server is overloaded, shared by all event loops.
  let admission: Mutex<Admission>

  /// Creates a server that does not listen yet.
  ///
  /// - Parameter handler: answers each request. It runs in a task of its own, many at a time.
  public convenience init(
    configuration: Configuration,
    handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
  ) {
    self.init(configuration: configuration, examine: nil, handler: handler)
  }

  /// Creates a server that can refuse a request before it receives a large body.
  ///
  /// The server calls `examine` once for each request. It calls it for the head alone, with an empty
  /// body, if the body goes to a file, has more than ``Configuration/smallBodySize`` bytes, or comes
  /// in chunks. It then receives the body only if `examine` asks for it. For other requests it calls
  /// `examine` when the body is complete.
  ///
  /// - Parameter examine: decides about a request by its head. It runs in a task of its own, many
  ///   at a time.
  public convenience init(
    configuration: Configuration,
    examine: @escaping @Sendable (_ head: HTTPRequest) async -> HTTPDecision
  ) {
    self.init(configuration: configuration, examine: examine) { request in
      switch await examine(request) {
      case .answer(let response): response
      case .receive(_, let answer): await answer(request)
      }
    }
  }

  private init(
    configuration: Configuration,
    examine: (@Sendable (HTTPRequest) async -> HTTPDecision)?,
    handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
  ) {
    self.configuration = configuration
    self.examine = examine
    self.handler = handler
    memory = Mutex(ByteAdmission(configuration.memoryLimits))
    files = Mutex(ByteAdmission(configuration.fileLimits))
    admission = Mutex(
      Admission(patience: configuration.patience, crowd: configuration.overdueRequests))
  }

  package var jobs: [BackgroundJob] { [disconnects, slowClients] }

  /// The port that the server listens at; before the start, the configured one.
  public var port: Int {
    phase.withLock { phase in
      switch phase {
      case .created: configuration.port
      case .running(let running): running.port
      case .stopping(_, let port): port
      }
    }
  }

  /// Listens at the address and serves. When the call returns, clients can connect.
  ///
  /// The process's soft limit of open files is raised if the configuration needs it.
  ///
  /// - Throws: ``HTTPServerError``. Unless the code is `alreadyStarted`, the server may be started
  ///   again.
  public func start() throws(HTTPServerError) {
    let result = phase.withLock { phase -> Result<Void, HTTPServerError> in
      guard case .created = phase else {
        return .failure(
          HTTPServerError(.alreadyStarted, "the server was already started; create a new one"))
      }
      return Result { () throws(HTTPServerError) in phase = .running(try launch()) }
    }
    try result.get()
  }

  /// Serves programs of this machine too, through a file that only its owner can open.
  /// ``HTTPRequest/isFromSocketFile`` marks their requests. The server removes the file when it
  /// stops.
  ///
  /// Call it while the server runs. Before the start and after the stop, it removes the file again
  /// and returns without an error.
  ///
  /// - Throws: ``HTTPServerError`` if the server cannot listen at the file. The server then
  ///   continues without the file.
  public func listen(at file: SocketFile) throws(HTTPServerError) {
    let socket = try ListeningSocket(file)
    phase.withLock { phase in
      guard case .running(var running) = phase else {
        socket.shutDown()
        socket.close()
        return
      }
      running.acceptors.append(
        Acceptor(
          socket: socket, loops: running.loops, places: running.places, limits: running.limits,
          server: self))
      phase = .running(running)
    }
  }

  /// The places of connections; `nil` before the start, because their number is not known yet.
  var places: ConnectionPlaces? { currentPlaces.withLock { $0 } }

  private func launch() throws(HTTPServerError) -> Running {
    try configuration.validated()
    let socket = try ListeningSocket(address: configuration.address, port: configuration.port)
    var loops: [ConnectionLoop] = []
    do {
      for _ in 0..<configuration.threads { loops.append(try ConnectionLoop(server: self)) }
    } catch {
      for loop in loops { loop.stop() }
      socket.close()
      throw error
    }
    _ = Unmanaged.passRetained(self)
    let limits = configuration.connectionLimits(
      of: DescriptorLimit.raise(forConnections: configuration.maximumConnections))
    let places = ConnectionPlaces(limits)
    currentPlaces.withLock { $0 = places }
    return Running(
      loops: loops,
      acceptors: [
        Acceptor(socket: socket, loops: loops, places: places, limits: limits, server: self)
      ],
      places: places, limits: limits,
      watch: DisconnectWatch(
        registry: registry, interval: .seconds(1), handlingTime: configuration.handlingTime,
        job: disconnects),
      slowClients: SlowClientWatch(registry: registry, counters: counters, job: slowClients),
      port: socket.port)
  }
}
