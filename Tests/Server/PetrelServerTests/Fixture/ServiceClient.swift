import Dispatch
import Foundation
import Glibc
import JSONCoding

/// One answer of the server.
struct Answer: Sendable {
  var status: Int
  /// Names in lower case.
  var headers: [String: String]
  var body: Data
  /// `.null` for an empty body.
  var json: JSONValue

  /// The items of the answer's list, whatever its name.
  var items: [JSONValue] {
    for name in ["records", "zones", "subscriptions", "notifications"] {
      if let array = json[name]?.array { return array }
    }
    return []
  }

  /// The item at this place, `.null` where there is none.
  subscript(index: Int) -> JSONValue { index < items.count ? items[index] : .null }

  /// For each item its error code, `deleted` or `ok`.
  var outcomes: [String] { items.map(\.outcome) }

  /// The error of the whole request: status, code.
  var failure: String { "\(status) \(json.errorCode ?? "-")" }
  var reason: String { json["reason"]?.string ?? "" }
}

extension JSONValue {
  /// The error code of an item, `deleted` or `ok`.
  var outcome: String {
    errorCode ?? (self["deleted"] == .bool(true) ? "deleted" : "ok")
  }

  /// The code of an error: Petrel's own where there is one beside Apple's.
  var errorCode: String? {
    self["serverErrorCode"]?.string.map { self["reasonCode"]?.string ?? $0 }
  }

  var reason: String { self["reason"]?.string ?? "" }
  var tag: String { self["recordChangeTag"]?.string ?? "" }
  var name: String { self["recordName"]?.string ?? "" }

  /// The value of a record's field.
  func field(_ name: String) -> JSONValue? { self["fields"]?[name]?["value"] }
}

/// Sends requests, each over a connection of its own.
struct ServiceClient: Sendable {
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  var port: Int

  func send(
    _ method: String, _ target: String, headers: String = "", body: Data = Data()
  ) async throws -> Answer {
    let exchange = try begin(method, target, headers: headers, body: body)
    return try await exchange.answer()
  }

  /// Sends a request whose answer is awaited later, or never.
  ///
  /// - Parameters:
  ///   - headers: Further header fields, each with its line break.
  ///   - announced: The length of the whole body; nil if `body` is all of it.
  func begin(
    _ method: String, _ target: String, headers: String = "", body: Data = Data(),
    announcing announced: Int? = nil
  ) throws -> Exchange {
    let exchange = try Exchange(port: port)
    let head =
      "\(method) \(target) HTTP/1.1\r\nConnection: close\r\n"
      + (headers.contains("Host: ") && !headers.contains("-Host: ") ? "" : "Host: localhost\r\n")
      + "\(headers)\(headers.contains("Content-Type:") ? "" : "Content-Type: text/plain\r\n")"
      + "Content-Length: \(announced ?? body.count)\r\n\r\n"
    exchange.send(Data(head.utf8) + body)
    return exchange
  }
}

/// One connection with one request.
final class Exchange: @unchecked Sendable {
  // Unchecked: all reading and writing is done on the queue.
  let queue = DispatchQueue(label: "exchange")
  private let descriptor: Int32
  /// The bytes of an answer that is still arriving.
  private var received = Data()

  fileprivate init(port: Int) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else {
      throw ServiceClient.Failure(description: "connect: \(String(cString: strerror(errno)))")
    }
  }

  deinit { Glibc.close(descriptor) }

  /// Leaves without waiting for the answer.
  func abandon() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Sends further bytes of the body.
  func send(_ data: Data) { queue.async { self.write(data) } }

  private func write(_ data: Data) {
    data.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        let count = Glibc.send(
          descriptor, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
        // A server that refuses a long body may answer and close before it was sent whole.
        guard count > 0 else { return }
        sent += count
      }
    }
  }

  func answer() async throws -> Answer {
    let data: Data = try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.readAll() }) }
    }
    guard let end = data.range(of: Data("\r\n\r\n".utf8)) else {
      throw ServiceClient.Failure(
        description: "no answer: \(String(decoding: data, as: UTF8.self))")
    }
    let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self)
      .components(separatedBy: "\r\n")
    let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    let headers = lines.dropFirst().compactMap { line -> (String, String)? in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      return (line[..<colon].lowercased(), value)
    }
    let body = Data(data[end.upperBound...])
    let fields = Dictionary(headers, uniquingKeysWith: { $1 })
    let type = fields["content-type"] ?? ""
    let isOther = type == "application/octet-stream" || type.hasPrefix("text/")
    return Answer(
      status: status, headers: fields, body: body,
      json: body.isEmpty || isOther ? .null : try JSONValue(parsing: body))
  }

  /// Returns the received part of the answer, header included, as soon as it satisfies the
  /// condition or is complete.
  func text(until isEnough: @escaping @Sendable (String) -> Bool) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.read(until: isEnough) }) }
    }
  }

  private func read(until isEnough: (String) -> Bool) throws -> String {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    // A stream that shows that it lives would go on for ever.
    let deadline = ContinuousClock.now + .seconds(30)
    while true {
      let text = String(decoding: received, as: UTF8.self)
      if isEnough(text) { return text }
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0 && errno == EAGAIN || ContinuousClock.now > deadline {
        throw ServiceClient.Failure(description: "not enough in 30 seconds: \(text)")
      }
      guard count > 0 else { return text }
      received += buffer.prefix(count)
    }
  }

  private func readAll() throws -> Data {
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count > 0 {
        data += buffer.prefix(count)
      } else if count < 0, errno == EAGAIN {
        throw ServiceClient.Failure(description: "no answer in 30 seconds")
      } else {
        return data
      }
    }
  }
}
