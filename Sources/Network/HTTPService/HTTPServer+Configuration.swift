import Foundation

extension HTTPServer {
  /// The address and the limits of an ``HTTPServer``.
  ///
  /// The limits bound the memory. It is at most the sum of:
  ///
  /// - `maximumConnections` × `connectionMemory`,
  /// - `maximumBufferedBytes`, plus the answers of the requests under way when that limit was
  ///   reached,
  /// - `maximumConnections` × `streamBuffer`, for streams with slow readers.
  public struct Configuration: Sendable {
    /// A numeric IPv4 or IPv6 address of this machine, or `localhost` (127.0.0.1). `0.0.0.0` means
    /// every IPv4 address, `::` every address.
    public var address = "127.0.0.1"
    /// The port to listen at; 0 for any free port, which ``HTTPServer/port`` then reports.
    public var port = 0
    /// The number of event-loop threads. They only move bytes; handlers run in tasks.
    public var threads = 2
    /// The largest body in bytes; a longer one gets 413. The server reads and drops the rest up to
    /// twice the limit, so that the client sees the answer. A request that declares more is refused
    /// at once. If more comes undeclared, the server closes the connection without an answer.
    public var maximumBodySize = 8 << 20
    /// The size in bytes up to which a body is small. The server receives a small body before it
    /// calls the handler.
    public var smallBodySize = 64 << 10
    /// Returns the rules for a request by its method and its path (decoded, without its query).
    /// An event loop calls it, so it must not block.
    public var rules: @Sendable (_ method: String, _ path: String) -> RequestRules = { _, _ in
      RequestRules()
    }
    /// The folder and the limits of bodies that go to files; `nil` if none do.
    public var spooling: Spooling?
    /// The most bytes in memory of all bodies during receipt and handling, and of all answers
    /// during sending, except streams. Beyond the limit a request gets 503. A request without a
    /// body that may use the reserve (``RequestRules/mayUseReserve``) is served even then.
    ///
    /// Bodies over ``smallBodySize`` may use only half of it, and each host and network only a
    /// share (``ByteAdmission``). So clients with bodies that never end leave space for others.
    public var maximumBufferedBytes = 256 << 20
    /// The most open connections. For a further one, the server closes those that have waited
    /// longest for a request. If none waits, the new connection gets 503 and is closed.
    ///
    /// If the system allows fewer descriptors (`ulimit -Hn`), the limit is that number less 256,
    /// but at least 16.
    public var maximumConnections = 16_384
    /// The most connections of one IPv4 address, or of one IPv6 network of 64 bits. Further ones
    /// get 503 and are closed.
    public var connectionsByAddress = 1_024
    /// The most connections of one IPv4 network of 24 bits, or of one IPv6 network of 48 bits.
    /// Further ones get 503 and are closed.
    public var connectionsByNetwork = 4_096
    /// Whether an address is a proxy, whose connections belong to many clients. Its connections do
    /// not count for the address and its network.
    ///
    /// The accepting thread calls it, so it must not block.
    public var isProxy: @Sendable (_ address: String) -> Bool = { _ in false }
    /// Returns the client's IPv4 or IPv6 address in network byte order, from the header fields of a
    /// proxy's request. The client has a share of the bytes in memory and in files by it. Without an
    /// address, the request has no share, but the whole limit.
    ///
    /// An event loop calls it, so it must not block.
    public var forwardedAddress:
      @Sendable (_ request: [(name: String, value: String)]) -> [UInt8]? = { _ in nil }
    /// The places of ``maximumConnections`` that are kept for requests that may use the reserve
    /// (``RequestRules/mayUseReserve``). At most a quarter of all.
    ///
    /// As many such requests are allowed beyond ``maximumRequestsUnderWay``.
    public var reservedConnections = 64
    /// The longest request target in bytes; a longer one gets 414.
    public var maximumTargetSize = 8 << 10
    /// The largest size of the header fields in bytes; larger ones get 431.
    public var maximumHeaderSize = 8 << 10
    /// The bytes of buffer for each connection, 2,048 to 1 MiB. A connection keeps all of it once
    /// it has had an answer.
    ///
    /// The request line and the header fields must fit together, with 56 bytes more for each field.
    /// Otherwise libmicrohttpd itself sends 414 or 431 with a fixed HTML body, or disconnects the
    /// client. So keep this larger than either limit above.
    public var connectionMemory = 12 << 10
    /// The time that a connection may do nothing while the server waits for the client: between
    /// requests, within a request, or for the client to take the answer. Whole seconds, at least 1.
    ///
    /// Requests that wait for their handler do not count, nor streams that wait for their producer.
    /// The server may notice a client that leaves within its request only after this time.
    public var idleTimeout = Duration.seconds(60)
    /// The time for the header fields of a request, from its request line. The server disconnects a
    /// slower client. It also disconnects a client that takes this plus ``idleTimeout`` for the
    /// request line.
    public var headTime = Duration.seconds(30)
    /// The bytes a second that a client must send of a body, and take of an answer that the server
    /// has. The rate counts for each ``rateGrace``, so bytes that the client sent before do not help
    /// it. The server disconnects a slower client within about a second.
    public var minimumRate = 1024
    /// The time for which a body or an answer may stand still.
    public var rateGrace = Duration.seconds(30)
    /// The time of a body in memory. The server disconnects a client that takes longer.
    public var bodyTime = Duration.seconds(600)
    /// The most requests during receipt, handling and sending, including long polls. Beyond the
    /// limit a request gets 503.
    public var maximumRequestsUnderWay = 12_288
    /// The time that a handler has to answer. The server then cancels its task, within a second or
    /// two, and sends the answer that it returns. Streams may continue.
    public var handlingTime = Duration.seconds(60)
    /// The time that a request may wait for its handler before it counts as overdue.
    public var patience = Duration.milliseconds(500)
    /// The number of overdue requests at which the server is overloaded. Further requests get 503
    /// until fewer are overdue.
    public var overdueRequests = 64
    /// The number of unsent bytes of a stream at which its producer has to wait.
    public var streamBuffer = 64 << 10
    /// The function that returns the JSON body of a refusal.
    public var refusalBody: @Sendable (HTTPRefusal) -> Data = HTTPRefusal.plainBody
    /// The function that returns the additional header fields of a refusal, computed from those of
    /// the request.
    public var refusalHeaders:
      @Sendable (_ request: [(name: String, value: String)]) -> [(String, String)] = { _ in [] }
    /// The function that runs once, at the start of ``HTTPServer/stop(within:)``. End long polls
    /// and streams here, because the server waits for them.
    public var onStop: @Sendable () -> Void = {}

    /// Creates a configuration with the defaults.
    public init() {}

    var paceLimits: Pace.Limits {
      Pace.Limits(
        head: headTime, line: idleTimeout + headTime, grace: rateGrace, rate: minimumRate)
    }

    var memoryLimits: ByteAdmission.Limits {
      ByteAdmission.Limits(
        all: maximumBufferedBytes, large: maximumBufferedBytes / 2, smallBody: smallBodySize)
    }

    /// The limits of bytes in files, where small bodies have no space of their own.
    var fileLimits: ByteAdmission.Limits {
      let bytes = spooling?.maximumSpooledBytes ?? 0
      return ByteAdmission.Limits(all: bytes, large: bytes, smallBody: 0)
    }

    func limit(of body: RequestRules.Body) -> (size: Int, time: Duration) {
      switch (body, spooling) {
      case (.file, let spooling?): (spooling.maximumBodySize, spooling.bodyTime)
      case (.large, _), (.file, nil): (maximumBodySize, bodyTime)
      case (.small, _): (min(maximumBodySize, smallBodySize), bodyTime)
      }
    }

    /// `connections` is the number that the system allows.
    func connectionLimits(of connections: Int) -> ConnectionAdmission.Limits {
      ConnectionAdmission.Limits(
        all: connections, reserved: max(0, min(reservedConnections, connections / 4)),
        byHost: connectionsByAddress, byNetwork: connectionsByNetwork)
    }

    /// Throws an error about the first number that is out of its range.
    func validated() throws(HTTPServerError) {
      let numbers = [
        ("threads", threads), ("maximumBufferedBytes", maximumBufferedBytes),
        ("maximumConnections", maximumConnections),
        ("maximumRequestsUnderWay", maximumRequestsUnderWay), ("streamBuffer", streamBuffer),
        ("idleTimeout (seconds)", Int(idleTimeout.components.seconds)),
        ("maximumTargetSize", maximumTargetSize), ("maximumHeaderSize", maximumHeaderSize),
        ("minimumRate", minimumRate), ("overdueRequests", overdueRequests),
        ("connectionsByAddress", connectionsByAddress),
        ("connectionsByNetwork", connectionsByNetwork), ("smallBodySize", smallBodySize),
      ]
      for (name, value) in numbers where value < 1 || value > Int(Int32.max) {
        throw HTTPServerError(
          .invalidConfiguration, "\(name) is \(value); it must be 1 to \(Int32.max)")
      }
      guard maximumBodySize >= 0 else {
        throw HTTPServerError(
          .invalidConfiguration, "maximumBodySize is \(maximumBodySize); it must not be negative")
      }
      guard (2048...(1 << 20)).contains(connectionMemory) else {
        throw HTTPServerError(
          .invalidConfiguration,
          "connectionMemory is \(connectionMemory); it must be 2048 to \(1 << 20) bytes")
      }
    }
  }
}
