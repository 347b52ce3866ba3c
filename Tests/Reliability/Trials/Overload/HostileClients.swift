import Foundation

/// Clients that hold connections without using them as they should.
enum HostileClients: String, CaseIterable {
  /// Each sends one byte of a request a second.
  case slow = "one byte a second"
  /// Each has sent half of a head and says nothing more.
  case silent = "half a head, then silence"
  /// Each has promised a body, and does not send it.
  case bodiless = "no body"
  /// Heads that do not end.
  case endlessHead = "heads without end"
  /// Bodies that do not end, in chunks.
  case endlessBody = "bodies without end"

  var connections: Int {
    switch self {
    case .slow: 10_000
    case .silent, .bodiless: 2_000
    case .endlessHead, .endlessBody: 200
    }
  }

  /// The bytes that each client sends first, and then repeatedly.
  private var beginning: [UInt8] {
    let text =
      switch self {
      case .slow, .silent: "POST /database/1/iCloud.org"
      case .bodiless:
        "POST /database/1/iCloud.org.example.Trial/development/private/records/modify HTTP/1.1\r\n"
          + "Host: a\r\nContent-Length: 1000000\r\n\r\n{"
      case .endlessHead: "GET / HTTP/1.1\r\nHost: a\r\n"
      case .endlessBody:
        "POST /database/1/iCloud.org.example.Trial/development/private/records/modify HTTP/1.1\r\n"
          + "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      }
    return Array(text.utf8)
  }

  private var continuation: [UInt8] {
    switch self {
    case .slow: [UInt8(ascii: "a")]
    case .silent, .bodiless: []
    case .endlessHead: Array("X-More: \(String(repeating: "a", count: 4_000))\r\n".utf8)
    case .endlessBody: Array("1000\r\n\(String(repeating: "a", count: 4_096))\r\n".utf8)
    }
  }

  /// Makes the connections, and goes on for some time after that.
  ///
  /// - Returns: how many could be made, and how many of them the server has closed by the end.
  func run(port: Int, seconds: Double) -> (made: Int, closed: Int) {
    var descriptors: [Int32] = []
    var address = HTTPConnection.address(ofPort: port)
    let beginning = beginning
    let continuation = continuation
    while descriptors.count < connections {
      let descriptor = socket(
        AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      let isConnected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      guard isConnected else {
        if descriptor >= 0 { close(descriptor) }
        break
      }
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      _ = send(descriptor, beginning, beginning.count, Int32(MSG_NOSIGNAL))
      descriptors.append(descriptor)
    }
    let made = descriptors.count
    var closed = 0
    let began = TrialClock.now
    var round = began
    while TrialClock.seconds(since: began) < seconds, !descriptors.isEmpty {
      descriptors.removeAll { descriptor in
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, 0)
        let hasEnded = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
        if !hasEnded, !continuation.isEmpty {
          _ = send(descriptor, continuation, continuation.count, Int32(MSG_NOSIGNAL))
        }
        if hasEnded {
          close(descriptor)
          closed += 1
        }
        return hasEnded
      }
      // The slow ones have a second for each byte; those without an end send as much as they can.
      let pause: Int64 = self == .endlessBody || self == .endlessHead ? 10_000_000 : 1_000_000_000
      round += pause
      let rest = round - TrialClock.now
      if rest > 0 { TrialClock.pause(seconds: Double(rest) / 1e9) } else { round = TrialClock.now }
    }
    for descriptor in descriptors { close(descriptor) }
    return (made, closed)
  }
}
