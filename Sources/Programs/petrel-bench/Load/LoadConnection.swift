import CommandInterface
import Foundation

/// A persistent HTTP connection to a port of this machine, with blocking calls. It uses little
/// processor time, because the measured server runs on the same machine.
///
/// One thread at a time may use the object.
final class LoadConnection {
  private let descriptor: Int32
  private let host: String
  private var received = [UInt8](repeating: 0, count: 64 << 10)

  /// Connects to a port of this machine.
  init(port: Int) throws {
    host = "127.0.0.1:\(port)"
    descriptor = try Self.connect(to: port)
  }

  /// Returns the socket of a new connection to this machine, without the delay of Nagle's algorithm
  /// (`TCP_NODELAY`). The caller closes the socket.
  ///
  /// - Throws: `UsageError` if the connection fails.
  static func connect(to port: Int) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else {
      close(descriptor)
      throw UsageError("cannot connect to port \(port): \(String(cString: strerror(errno)))")
    }
    var on: Int32 = 1
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    return descriptor
  }

  deinit {
    close(descriptor)
  }

  /// Sends a POST request with a body of JSON, and waits for the answer. The method reads a body
  /// only if the answer has a Content-Length.
  ///
  /// - Throws: `UsageError` if the status is not 200, if the body contains an error code, or if the
  ///   connection breaks.
  @discardableResult
  func post(
    _ path: String, _ body: [UInt8], authorization: String? = nil
  ) throws -> [UInt8] {
    var head = "POST \(path) HTTP/1.1\r\nHost: \(host)\r\nContent-Type: application/json\r\n"
    if let authorization { head += "Authorization: \(authorization)\r\n" }
    var request = Array((head + "Content-Length: \(body.count)\r\n\r\n").utf8)
    request += body
    try Self.send(request, to: descriptor)
    let answer = try receive()
    guard answer.status == 200, answer.body.firstPlace(of: Self.errorMark) == nil else {
      throw UsageError(
        "the server answered \(answer.status): \(String(decoding: answer.body.prefix(500), as: UTF8.self))"
      )
    }
    return answer.body
  }

  /// Sends a GET request, and waits for the answer. The method reads a body only if the answer has
  /// a Content-Length.
  ///
  /// - Throws: `UsageError` if the status is not 200 or the connection breaks.
  func get(_ path: String) throws -> [UInt8] {
    try Self.send(Array("GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8), to: descriptor)
    let answer = try receive()
    guard answer.status == 200 else {
      throw UsageError("the server answered \(answer.status) for \(path)")
    }
    return answer.body
  }

  /// The end of the JSON keys `serverErrorCode` and `ckErrorCode`. A body with one of these keys
  /// reports an error.
  private static let errorMark = Array("ErrorCode\":".utf8)

  /// Blocks while the socket's buffer is full.
  static func send(_ bytes: [UInt8], to descriptor: Int32) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw UsageError("the connection broke while sending") }
      sent += count
    }
  }

  private func receive() throws -> (status: Int, body: [UInt8]) {
    var head: [UInt8] = []
    var headerEnd: Int?
    while headerEnd == nil {
      let count = recv(descriptor, &received, received.count, 0)
      guard count > 0 else { throw UsageError("the connection broke while receiving") }
      head += received[..<count]
      headerEnd = head.firstPlace(of: Self.endOfHeader).map { $0 + Self.endOfHeader.count }
    }
    let start = headerEnd ?? 0
    let status = Int(String(decoding: head[9..<12], as: UTF8.self)) ?? 0
    let length = Self.contentLength(head[..<start])
    let body = try [UInt8](unsafeUninitializedCapacity: length) { body, filled in
      filled = min(head.count - start, length)
      head.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(body).copyMemory(
          from: UnsafeRawBufferPointer(rebasing: $0[start..<start + filled]))
      }
      while filled < length {
        let count = recv(descriptor, body.baseAddress.map { $0 + filled }, length - filled, 0)
        guard count > 0 else { throw UsageError("the connection broke while receiving") }
        filled += count
      }
    }
    return (status, body)
  }

  private static let endOfHeader = Array("\r\n\r\n".utf8)

  private static func contentLength(_ header: ArraySlice<UInt8>) -> Int {
    let lines = String(decoding: header, as: UTF8.self).lowercased().split(separator: "\r\n")
    let line = lines.first { $0.hasPrefix("content-length:") }
    return line.flatMap { Int($0.split(separator: ":")[1].trimmingPrefix(" ")) } ?? 0
  }
}

extension [UInt8] {
  /// The search is fast if the first byte of `mark` is rare, because the C function `memchr`
  /// searches for this byte.
  func firstPlace(of mark: [UInt8], from start: Int = 0) -> Int? {
    withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return nil }
      var place = start
      while place + mark.count <= bytes.count {
        let rest = bytes.count - mark.count + 1 - place
        guard let found = memchr(base + place, Int32(mark[0]), rest) else { return nil }
        place = base.distance(to: UnsafeRawPointer(found))
        if memcmp(found, mark, mark.count) == 0 { return place }
        place += 1
      }
      return nil
    }
  }

  /// Returns the number of occurrences of `mark` that do not overlap.
  func places(of mark: [UInt8]) -> Int {
    var count = 0
    var start = 0
    while let place = firstPlace(of: mark, from: start) {
      count += 1
      start = place + mark.count
    }
    return count
  }
}
