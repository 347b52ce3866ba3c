import Dispatch
import Foundation
import Glibc

/// An HTTP client of bare sockets, for requests that no decent client sends.
final class RawClient: @unchecked Sendable {
  // Unchecked: each test uses its clients from one task.

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  struct Response {
    var status: Int
    var headers: [String: String]
    var body: Data
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  private let descriptor: Int32
  private var buffer = Data()
  private let queue = DispatchQueue(label: "raw-client")

  /// - Parameter source: the loopback address that it connects from.
  init(port: Int, from source: String? = nil, receiveBuffer: Int32? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var deadline = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &deadline, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &deadline, socklen_t(MemoryLayout<timeval>.size))
    if var size = receiveBuffer {
      setsockopt(
        descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    if let source {
      address.sin_addr.s_addr = inet_addr(source)
      let isBound = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      guard isBound else { throw Failure(description: "cannot connect from \(source)") }
    }
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else {
      let code = errno
      throw Failure(description: "connect: \(String(cString: strerror(code)))")
    }
  }

  private var isOpen = true
  deinit { close() }

  func close() {
    if isOpen { Glibc.close(descriptor) }
    isOpen = false
  }

  func send(_ text: String) async throws { try await send(Data(text.utf8)) }

  func send(_ data: Data) async throws {
    try await blocking { [descriptor] in
      var sent = 0
      while sent < data.count {
        let count = data.withUnsafeBytes { bytes in
          Glibc.send(
            descriptor, bytes.baseAddress! + sent, data.count - sent, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else {
          throw Failure(description: "send: \(String(cString: strerror(errno)))")
        }
        sent += count
      }
    }
  }

  /// The next response; `hasBody` is false for answers to HEAD.
  func response(hasBody: Bool = true) async throws -> Response {
    var response = try await head()
    guard hasBody else { return response }
    if response.headers["transfer-encoding"] == "chunked" {
      while let chunk = try await chunk() { response.body += chunk }
    } else if let length = response.headers["content-length"].flatMap({ Int($0) }) {
      response.body = try await take(length)
    }
    return response
  }

  /// The status line and the headers of the next response.
  func head() async throws -> Response {
    let lines = try await line(endingIn: "\r\n\r\n").components(separatedBy: "\r\n")
    guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw Failure(description: "not a status line: \(lines[0])")
    }
    let fields = lines.dropFirst().compactMap { line -> (String, String)? in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      return (
        line[..<colon].lowercased(),
        line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      )
    }
    return Response(
      status: status, headers: Dictionary(fields, uniquingKeysWith: { $0 + "," + $1 }),
      body: Data())
  }

  /// The next chunk of a chunked body; nil at its proper end.
  func chunk() async throws -> Data? {
    let line = try await line(endingIn: "\r\n")
    guard let size = Int(line, radix: 16) else {
      throw Failure(description: "not a chunk size: \(line)")
    }
    let data = try await take(size)
    _ = try await take(2)
    return size == 0 ? nil : data
  }

  /// All that comes until the server closes the connection.
  func everything() async throws -> String {
    while try await receive() {}
    defer { buffer = Data() }
    return String(decoding: buffer, as: UTF8.self)
  }

  /// Whether the server closed the connection with nothing left to read.
  func isClosedByServer() async throws -> Bool {
    try await !receive() && buffer.isEmpty
  }

  private func line(endingIn mark: String) async throws -> String {
    while true {
      if let range = buffer.range(of: Data(mark.utf8)) {
        defer { buffer = Data(buffer[range.upperBound...]) }
        return String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
      }
      guard try await receive() else {
        throw Failure(
          description: "closed after \(String(decoding: buffer, as: UTF8.self).debugDescription)")
      }
    }
  }

  private func take(_ count: Int) async throws -> Data {
    while buffer.count < count {
      guard try await receive() else {
        throw Failure(description: "closed after \(buffer.count) of \(count) bytes")
      }
    }
    defer { buffer = Data(buffer.dropFirst(count)) }
    return Data(buffer.prefix(count))
  }

  private func receive() async throws -> Bool {
    let more = try await blocking { [descriptor] in
      var bytes = [UInt8](repeating: 0, count: 65536)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      if count < 0, errno == EAGAIN { throw Failure(description: "nothing came for 20 seconds") }
      return bytes.prefix(max(0, count))
    }
    buffer += more
    return !more.isEmpty
  }

  private func blocking<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: work)) }
    }
  }
}
