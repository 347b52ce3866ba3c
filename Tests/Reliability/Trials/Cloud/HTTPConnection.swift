import Foundation

/// A connection to a server, kept alive, for one thread.
final class HTTPConnection {
  /// Why a request has no answer.
  enum Failure: Error {
    /// The server cannot have got it.
    case notSent
    /// The server may have got it.
    case noAnswer
  }

  struct Answer {
    var status: Int
    var body: [UInt8]
  }

  private let descriptor: Int32
  private let port: Int
  private var received = [UInt8](repeating: 0, count: 64 << 10)

  /// - Parameters:
  ///   - seconds: how long an answer may take.
  ///   - source: the address of this machine that it comes from.
  init(port: Int, seconds: Int = 10, from source: UInt32 = loopback) throws(Failure) {
    self.port = port
    guard let descriptor = Self.connected(to: port, from: source) else { throw .notSent }
    self.descriptor = descriptor
    var patience = timeval(tv_sec: seconds, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
  }

  /// A descriptor connected to a port of this machine; nil where that cannot be.
  static func connected(to port: Int, from source: UInt32) -> Int32? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var own = address(ofPort: 0, host: source)
    var other = address(ofPort: port)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    func isDone(
      _ address: inout sockaddr_in, _ call: (UnsafePointer<sockaddr>) -> Int32
    ) -> Bool {
      withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0) == 0 }
      }
    }
    if isDone(&own, { bind(descriptor, $0, size) }),
      isDone(&other, { connect(descriptor, $0, size) })
    {
      return descriptor
    }
    close(descriptor)
    return nil
  }

  deinit { close(descriptor) }

  /// Sends a request and waits for the answer, which must have a Content-Length.
  func send(_ method: String, _ path: String, _ body: String = "") throws(Failure) -> Answer {
    let bytes = Array(body.utf8)
    let head =
      "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: application/json\r\n"
      + (method == "POST" ? "Content-Length: \(bytes.count)\r\n" : "") + "\r\n"
    var rest = (Array(head.utf8) + bytes)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      // What was sent of it so far may have been enough.
      guard count > 0 else { throw .noAnswer }
      rest = rest.dropFirst(count)
    }
    return try receive()
  }

  private func receive() throws(Failure) -> Answer {
    var bytes: [UInt8] = []
    while true {
      if let answer = Self.answer(in: bytes) { return answer }
      let count = recv(descriptor, &received, received.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .noAnswer }
      bytes += received[..<count]
    }
  }

  /// The address by which a machine knows itself.
  static let loopback: UInt32 = 0x7F00_0001

  /// The address of a port of this machine.
  static func address(ofPort port: Int, host: UInt32 = loopback) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = host.bigEndian
    return address
  }

  /// The answer that bytes hold; nil while it is not whole.
  ///
  /// Without strings, for a flood has a hundred thousand of them to read.
  static func answer(in bytes: [UInt8]) -> Answer? {
    bytes.withUnsafeBytes { bytes in
      var start = 0
      var length = 0
      while let end = bytes[start...].firstIndex(of: 10) {
        let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        start = end + 1
        if line.count > 15, let text = line.baseAddress,
          strncasecmp(text, "content-length:", 15) == 0
        {
          length = number(in: line.dropFirst(15))
        }
        guard line.count <= 1 else { continue }
        guard bytes.count >= start + length else { return nil }
        return Answer(
          status: number(in: bytes.dropFirst(8)), body: Array(bytes[start..<start + length]))
      }
      return nil
    }
  }

  /// The number behind spaces.
  private static func number(in bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    bytes.drop { $0 == UInt8(ascii: " ") }.prefix { (48...57).contains($0) }
      .reduce(0) { $0 * 10 + Int($1 - 48) }
  }
}
