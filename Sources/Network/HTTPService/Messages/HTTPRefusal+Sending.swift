import CMicroHTTPD
import Foundation
import Glibc

extension HTTPRefusal {
  /// Sends the refusal directly to a socket, as the last answer of its connection.
  ///
  /// The method then reads at most 256 KiB of the request, only bytes that have arrived. So a
  /// client that is still sending may see a reset connection instead of the answer.
  func send(to descriptor: Int32, body: Data, headers: [(String, String)] = []) {
    var head = "HTTP/1.1 \(status) \(phrase)\r\nContent-Type: application/json\r\n"
    if let retryAfter { head += "Retry-After: \(retryAfter)\r\n" }
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    head += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
    let bytes = Array(head.utf8) + body
    _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    shutdown(descriptor, Int32(SHUT_WR))
    // Unread bytes would reset the connection before the client reads the answer. The limit of 64
    // reads bounds the work for a client that never stops.
    var scrap = [UInt8](repeating: 0, count: 4096)
    var pieces = 0
    while pieces < 64, recv(descriptor, &scrap, scrap.count, 0) > 0 { pieces += 1 }
  }

  private var phrase: String {
    switch status {
    case 400: "Bad Request"
    case 408: "Request Timeout"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 431: "Request Header Fields Too Large"
    default: "Service Unavailable"
    }
  }
}
