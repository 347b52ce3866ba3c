import Foundation

extension HTTPServer {
  /// Where to listen, and the limits.
  ///
  /// Memory is bounded by `maximumConnections` × `connectionMemory`, `maximumBufferedBytes` with the
  /// answers of the requests that were under way when it was reached, and `maximumConnections` ×
  /// `streamBuffer` for streams whose readers are slow.
  public struct Configuration: Sendable {
    /// A numeric IPv4 or IPv6 address of this machine, or `localhost` (127.0.0.1). `0.0.0.0` is
    /// every IPv4 address, `::` every address.
    public var address = "127.0.0.1"
    /// 0 lets the system choose; ``HTTPServer/port`` tells.
    public var port = 0
    /// Event-loop threads. They only move bytes: handlers run elsewhere.
    public var threads = 2
    /// Bytes; a longer body gets 413. The rest of it is read and thrown away up to twice the
    /// limit, so that the client sees the answer; beyond that the connection is closed.
    public var maximumBodySize = 8 << 20
    /// Which bodies go to files, with limits of their own; none where it is nil.
    public var spooling: Spooling?
    /// Bytes of all bodies in memory that are being received or handled, and of all answers that
    /// are being sent (but for streams); beyond that 503. Bodies of more than 64 KiB may take half of it, so
    /// that clients which send a lot, and do not come to an end, leave room for others.
    public var maximumBufferedBytes = 256 << 20
    /// Open connections. For a further one those are closed that have waited for a request longest;
    /// where none waits for one, it gets 503 and is closed. If the system allows the process
    /// fewer descriptors (`ulimit -Hn`), that many less 256.
    public var maximumConnections = 16_384
    /// Those of one IPv4 address, or of one IPv6 network of 64 bits; further ones get 503 and are closed.
    public var connectionsByAddress = 1_024
    /// Those of one IPv4 network of 24 bits, or of one IPv6 network of 48 bits.
    public var connectionsByNetwork = 4_096
    /// Whether connections of an address are those of many clients, as a proxy's are: they do not count
    /// for the address and its network. Asked on a thread that accepts connections: it must not wait.
    public var isProxy: @Sendable (_ address: String) -> Bool = { _ in false }
    /// Places of ``maximumConnections`` that are kept for requests that ``mayUseReserve`` is true for, and
    /// so many more of them than ``maximumRequestsUnderWay``. At most a quarter of all.
    public var reservedConnections = 64
    /// Whether a request for this path (decoded, without its query) gets through when the server is full.
    public var mayUseReserve: @Sendable (_ path: String) -> Bool = { _ in false }
    /// Bytes of the request target; a longer one gets 414.
    public var maximumTargetSize = 8 << 10
    /// Bytes of the header fields; more get 431.
    public var maximumHeaderSize = 8 << 10
    /// Bytes of buffer for each connection, which it keeps while it waits: all of it once the
    /// connection has had an answer. The request line and the header fields must fit in together, with
    /// 56 bytes more for each field. A request that does not fit gets 414 or 431 from the library
    /// itself, with a body in HTML that nothing can change, or is disconnected; keep this larger than
    /// either limit above.
    public var connectionMemory = 12 << 10
    /// How long a connection may do nothing while the server waits for it: between requests,
    /// within a request, or taking the answer. Whole seconds, at least 1. Requests that wait for
    /// their handler, and streams that wait for their producer, do not count.
    ///
    /// A client that leaves in the middle of its request may be noticed only then.
    public var idleTimeout = Duration.seconds(60)
    /// How long the header fields of a request may take, from its request line on. A client that
    /// takes longer is disconnected, and so is one that takes this and ``idleTimeout`` for the
    /// request line.
    public var headTime = Duration.seconds(30)
    /// Bytes a second that a client must send of a body, and take of an answer whose length is
    /// known, on average after ``rateGrace``. A slower one is disconnected, within about a second.
    public var minimumRate = 1024
    /// How long a body or an answer may take before ``minimumRate`` counts.
    public var rateGrace = Duration.seconds(30)
    /// Requests that are being received or handled, long polls included; beyond that 503.
    public var maximumRequestsUnderWay = 12_288
    /// How long a handler may take to answer. Its task is cancelled then, within a second or two; what it
    /// answers is sent. Streams may go on.
    public var handlingTime = Duration.seconds(60)
    /// When ``overdueRequests`` have waited for so long for their handlers, the server does not keep up:
    /// further ones get 503 until fewer have.
    public var patience = Duration.milliseconds(500)
    public var overdueRequests = 64
    /// Which requests are counted and may be refused so; none of those that wait by their nature, such as
    /// long polls.
    public var mayBeOverdue: @Sendable (_ method: String, _ path: String) -> Bool = { _, _ in false
    }
    /// Bytes that wait for a slow reader of a stream before its producer has to wait.
    public var streamBuffer = 64 << 10
    /// The JSON body of an answer that the server gives by itself.
    public var refusalBody: @Sendable (HTTPRefusal) -> Data = HTTPRefusal.plainBody
    /// Further header fields of such an answer, from those of the request.
    public var refusalHeaders:
      @Sendable (_ request: [(name: String, value: String)]) -> [(String, String)] = { _ in [] }
    /// Called once at the beginning of ``HTTPServer/stop(within:)``: end long polls and streams
    /// now, for the server waits for them.
    public var onStop: @Sendable () -> Void = {}

    public init() {}

    var paceLimits: Pace.Limits {
      Pace.Limits(
        head: headTime, line: idleTimeout + headTime, grace: rateGrace, rate: minimumRate)
    }

    /// - Parameter connections: how many there may be, as the system allows.
    func connectionLimits(of connections: Int) -> ConnectionAdmission.Limits {
      ConnectionAdmission.Limits(
        all: connections, reserved: max(0, min(reservedConnections, connections / 4)),
        byHost: connectionsByAddress, byNetwork: connectionsByNetwork)
    }

    func validated() throws(HTTPServerError) {
      let numbers = [
        ("threads", threads), ("maximumBufferedBytes", maximumBufferedBytes),
        ("maximumConnections", maximumConnections),
        ("maximumRequestsUnderWay", maximumRequestsUnderWay), ("streamBuffer", streamBuffer),
        ("idleTimeout (seconds)", Int(idleTimeout.components.seconds)),
        ("maximumTargetSize", maximumTargetSize), ("maximumHeaderSize", maximumHeaderSize),
        ("minimumRate", minimumRate), ("overdueRequests", overdueRequests),
        ("connectionsByAddress", connectionsByAddress),
        ("connectionsByNetwork", connectionsByNetwork),
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
