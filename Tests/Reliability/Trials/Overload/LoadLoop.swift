import CLinuxEvents
import Foundation

/// Many connections in one thread, which send requests at a rate that does not depend on the answers.
final class LoadLoop {
  /// How a request ended.
  struct Ending {
    /// The number that the request bears.
    var number: Int
    /// The HTTP status; nil when no answer came.
    var status: Int?
    var seconds: Double
    /// The error code of the answer; `nil` for success.
    var code: String?
    var retryAfter: Double?
  }

  private struct Line {
    var descriptor: Int32 = -1
    var outgoing: [UInt8] = []
    var sent = 0
    var incoming: [UInt8] = []
    var number = -1
    var began: Int64 = 0
    var isBusy: Bool { number >= 0 }
  }

  private let port: Int
  private let poll: Int32
  private var lines: [Line]
  private var idle: [Int]
  private var events = [epoll_event](repeating: epoll_event(), count: 512)
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)
  /// Requests that were due when all connections waited for answers.
  private(set) var crowdedOut = 0
  private(set) var failedConnections = 0

  init(port: Int, connections: Int) {
    self.port = port
    poll = epoll_create1(0)
    lines = Array(repeating: Line(), count: connections)
    idle = Array((0..<connections).reversed())
  }

  deinit {
    for line in lines where line.descriptor >= 0 { close(line.descriptor) }
    close(poll)
  }

  /// Sends requests for some time.
  ///
  /// - Parameters:
  ///   - rate: Requests a second; `nil` sends one on each connection as soon as it is free.
  ///   - request: The bytes of the request with a number.
  ///   - patience: Seconds to wait for answers at the end.
  ///   - ended: Receives the outcome of each request.
  func run(
    seconds: Double, rate: Double?, from first: Int, patience: Double = 30,
    request: (Int) -> [UInt8], ended: (Ending) -> Void
  ) -> Int {
    let began = TrialClock.now
    var number = first
    var offered = 0
    while true {
      let elapsed = TrialClock.seconds(since: began)
      if elapsed < seconds {
        if let rate {
          // A few at a time: answers that lie there unread would seem to come late.
          let due = min(Int(elapsed * rate), offered + 32)
          while offered < due {
            offered += 1
            if begin(number, request(number)) { number += 1 } else { crowdedOut += 1 }
          }
        } else {
          while !idle.isEmpty, begin(number, request(number)) { number += 1 }
        }
      } else if idle.count == lines.count || elapsed > seconds + patience {
        break
      }
      turn(ended)
    }
    for index in lines.indices where lines[index].isBusy { give(up: index, ended) }
    return number
  }

  private func begin(_ number: Int, _ bytes: [UInt8]) -> Bool {
    guard let index = idle.popLast() else { return false }
    if lines[index].descriptor < 0, !connectLine(index) {
      idle.insert(index, at: 0)
      failedConnections += 1
      return false
    }
    lines[index].number = number
    lines[index].outgoing = bytes
    lines[index].sent = 0
    lines[index].incoming = []
    lines[index].began = TrialClock.now
    write(index)
    return true
  }

  private func connectLine(_ index: Int) -> Bool {
    let descriptor = socket(
      AF_INET,
      Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    var address = HTTPConnection.address(ofPort: port)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 || errno == EINPROGRESS else {
      close(descriptor)
      return false
    }
    lines[index].descriptor = descriptor
    var event = epoll_event()
    event.events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLET.rawValue
    event.data.u64 = UInt64(index)
    epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event)
    return true
  }

  private func turn(_ ended: (Ending) -> Void) {
    let count = epoll_wait(poll, &events, Int32(events.count), 1)
    for place in 0..<max(0, Int(count)) {
      let event = events[place]
      let index = Int(event.data.u64)
      guard lines[index].descriptor >= 0 else { continue }
      if lines[index].isBusy, lines[index].sent < lines[index].outgoing.count { write(index) }
      read(index, ended)
    }
  }

  private func write(_ index: Int) {
    while lines[index].sent < lines[index].outgoing.count {
      let count = lines[index].outgoing[lines[index].sent...].withUnsafeBytes {
        send(lines[index].descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      lines[index].sent += count
    }
  }

  private func read(_ index: Int, _ ended: (Ending) -> Void) {
    while lines[index].descriptor >= 0 {
      let count = recv(lines[index].descriptor, &buffer, buffer.count, 0)
      if count > 0 {
        lines[index].incoming += buffer[..<count]
        if let answer = HTTPConnection.answer(in: lines[index].incoming) {
          finish(index, answer, ended)
        }
      } else if count < 0, errno == EAGAIN || errno == EINTR {
        return
      } else {
        if lines[index].isBusy { give(up: index, ended) } else { disconnect(index) }
        return
      }
    }
  }

  private func finish(
    _ index: Int, _ answer: HTTPConnection.Answer, _ ended: (Ending) -> Void
  ) {
    guard lines[index].isBusy else { return }
    var ending = Ending(
      number: lines[index].number, status: answer.status,
      seconds: TrialClock.seconds(since: lines[index].began))
    if Self.tellsOfError(answer.body) {
      let text = String(decoding: answer.body, as: UTF8.self)
      ending.code = text.firstMatch(of: #/"serverErrorCode":"([A-Z_]+)"/#).map { String($0.1) }
      ending.retryAfter = text.firstMatch(of: #/"retryAfter":([0-9.]+)/#).flatMap { Double($0.1) }
    }
    free(index)
    ended(ending)
  }

  private static func tellsOfError(_ body: [UInt8]) -> Bool {
    (body.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { text in
      text.baseAddress.map { strstr($0, "serverErrorCode") != nil } ?? false
    }
  }

  private func give(up index: Int, _ ended: (Ending) -> Void) {
    let ending = Ending(
      number: lines[index].number, status: nil,
      seconds: TrialClock.seconds(since: lines[index].began))
    disconnect(index)
    free(index)
    ended(ending)
  }

  private func disconnect(_ index: Int) {
    close(lines[index].descriptor)
    lines[index].descriptor = -1
  }

  private func free(_ index: Int) {
    lines[index].number = -1
    lines[index].incoming = []
    idle.append(index)
  }
}
