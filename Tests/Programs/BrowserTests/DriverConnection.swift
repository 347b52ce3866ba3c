import Dispatch
import Foundation

/// One request to the driver over a socket of its own. Foundation's `URLSession` does not take the
/// head of the driver's answers.
enum DriverConnection {
  /// - Returns: the answer's body.
  static func exchange(_ method: String, _ url: String, _ body: Data?) async throws -> Data {
    guard let components = URLComponents(string: url), let port = components.port else {
      throw WebDriver.Failure(description: "no URL of a driver: \(url)")
    }
    let length = body.map { "Content-Length: \($0.count)\r\n" } ?? ""
    let head =
      "\(method) \(components.percentEncodedPath) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
      + "Connection: close\r\nContent-Type: application/json\r\n\(length)\r\n"
    let request = Data(head.utf8) + (body ?? Data())
    return try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "driver-connection").async {
        continuation.resume(with: Result { try exchange(request, port: port) })
      }
    }
  }

  private static func exchange(_ request: Data, port: Int) throws -> Data {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw WebDriver.Failure(description: "the driver is gone") }
    var rest = request
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw WebDriver.Failure(description: "the driver hung up") }
      rest = rest.dropFirst(count)
    }
    var answer = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      if let body = body(of: answer) { return body }
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else {
        throw WebDriver.Failure(description: "no whole answer of the driver in 30 seconds")
      }
      answer += buffer.prefix(count)
    }
  }

  /// The body of an answer; nil until all of it is there.
  private static func body(of answer: Data) -> Data? {
    guard let end = answer.range(of: Data("\r\n\r\n".utf8)) else { return nil }
    let head = String(decoding: answer[..<end.lowerBound], as: UTF8.self).lowercased()
    guard let length = head.firstMatch(of: /content-length: *(\d+)/)?.output.1,
      let count = Int(length), answer.distance(from: end.upperBound, to: answer.endIndex) >= count
    else { return nil }
    return Data(answer[end.upperBound...].prefix(count))
  }
}
