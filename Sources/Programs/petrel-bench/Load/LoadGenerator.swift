import CLinuxEvents
import CommandInterface
import Foundation

/// Keeps a number of connections to a server busy from one thread: each sends its next request as soon
/// as its answer is there.
///
/// It costs as little as it can, for it shares the machine with the server that it measures.
struct LoadGenerator {
  /// Answers that came within the time, and how long each took.
  struct Result: Sendable {
    var times: [Double] = []
    var seconds = 0.0
    /// Requests that were answered, also those that were sent in time and answered later.
    var answered = 0
    /// Requests that were refused for now.
    var refused = 0

    /// Answers a second.
    var rate: Double { seconds > 0 ? Double(times.count) / seconds : 0 }

    static func += (left: inout Result, right: Result) {
      left.times += right.times
      left.seconds += right.seconds
      left.answered += right.answered
      left.refused += right.refused
    }
  }

  let port: Int
  let connections: Int
  /// What is sent, one after the other and then again from the first.
  let requests: [LoadRequest]
  /// Whether requests that a server refuses for now are counted, and sent anew, instead of ending the run.
  var toleratesRefusals = false

  /// Runs on a thread of its own.
  ///
  /// - Throws: ``UsageError`` for an answer that is not a success.
  func run(seconds: Double) async throws -> Result {
    try await onThread { try drive(seconds) }
  }

  private func drive(_ seconds: Double) throws -> Result {
    let poll = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard poll >= 0 else { throw UsageError("no event loop could be made") }
    defer { close(poll) }
    var exchanges: [LoadExchange] = []
    for index in 0..<connections {
      let exchange = try LoadExchange(port: port)
      var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: UInt64(index)))
      epoll_ctl(poll, EPOLL_CTL_ADD, exchange.descriptor, &event)
      exchanges.append(exchange)
    }
    var supply = RequestSupply(requests)
    let begin = monotonicSeconds()
    for exchange in exchanges { try exchange.send(supply.next()) }
    var result = Result(times: [], seconds: seconds)
    result.times.reserveCapacity(Int(seconds * 40_000))
    var events = [epoll_event](repeating: epoll_event(), count: connections)
    var underWay = connections
    while underWay > 0 {
      let ready = epoll_wait(poll, &events, Int32(events.count), 10_000)
      guard ready > 0 else { throw UsageError("the server did not answer for ten seconds") }
      for event in events[..<Int(ready)] {
        let exchange = exchanges[Int(event.data.u64)]
        guard try exchange.receive() else { continue }
        let now = monotonicSeconds()
        if exchange.isRefused {
          guard toleratesRefusals else { throw UsageError("a server refuses requests for now") }
          result.refused += 1
          guard now - begin < seconds else {
            underWay -= 1
            continue
          }
          try exchange.send(supply.next())
          continue
        }
        result.answered += 1
        // What is under way at the end is waited for and not counted.
        guard now - begin < seconds else {
          underWay -= 1
          continue
        }
        result.times.append(now - exchange.sent)
        try exchange.send(supply.next())
      }
    }
    return result
  }
}

extension LoadGenerator {
  /// Sends requests at an even rate over one connection, on the caller's thread. One that is late does
  /// not make the later ones wait for their turn; its time counts from then on when it was due.
  ///
  /// - Parameter delay: seconds until the first, so that several such loads do not send at once.
  func pace(rate: Double, seconds: Double, delay: Double = 0) throws -> Result {
    let exchange = try LoadExchange(port: port)
    var supply = RequestSupply(requests)
    let count = Int(rate * seconds)
    var result = Result(times: [], seconds: seconds)
    let start = monotonicSeconds() + delay
    for number in 0..<count {
      let due = start + Double(number) / rate
      let wait = due - monotonicSeconds()
      // On a thread of its own, which keeps time.
      if wait > 0 { usleep(UInt32(wait * 1_000_000)) }
      try exchange.send(supply.next())
      while try !exchange.receive() {
        var event = pollfd(fd: exchange.descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&event, 1, 10_000) > 0 else {
          throw UsageError("the server did not answer for ten seconds")
        }
      }
      result.times.append(monotonicSeconds() - min(due, exchange.sent))
      if exchange.isRefused { result.refused += 1 } else { result.answered += 1 }
    }
    return result
  }

  /// How often each of the requests was sent among so many.
  func uses(among answered: Int) -> [Int] {
    requests.indices.map { index in
      // The first that is sent is the second of the list.
      let first = (index + requests.count - 1) % requests.count
      return first < answered ? 1 + (answered - 1 - first) / requests.count : 0
    }
  }
}

/// The requests in turn, each with new names.
private struct RequestSupply {
  private var requests: [LoadRequest]
  private var place = 0
  private var random = SplitMix64()

  init(_ requests: [LoadRequest]) {
    self.requests = requests
  }

  mutating func next() -> [UInt8] {
    place = (place + 1) % requests.count
    requests[place].rename(using: &random)
    return requests[place].bytes
  }
}

/// One connection of a load, and the answer that is arriving on it.
private final class LoadExchange {
  let descriptor: Int32
  private(set) var sent = 0.0
  /// Whether the answer says that the request may be sent again: 429 or 503.
  private(set) var isRefused = false
  private var received = [UInt8](repeating: 0, count: 256 << 10)
  private var count = 0
  /// Bytes of the whole answer, as soon as its head is there.
  private var expected: Int?

  init(port: Int) throws {
    descriptor = try LoadConnection.connect(to: port)
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8]) throws {
    count = 0
    expected = nil
    sent = monotonicSeconds()
    try LoadConnection.send(bytes, to: descriptor)
  }

  /// Reads what is there; true when the answer is whole.
  func receive() throws -> Bool {
    while true {
      let room = received.count - count
      let more = received.withUnsafeMutableBytes {
        recv(descriptor, $0.baseAddress?.advanced(by: count), room, Int32(MSG_DONTWAIT))
      }
      guard more > 0 else {
        if more < 0, errno == EAGAIN { return false }
        throw UsageError("the connection broke while receiving")
      }
      count += more
      if expected == nil { expected = try readHead() }
      guard let expected, count >= expected else { continue }
      try check()
      return true
    }
  }

  /// The length of the answer; nil when its head is not there whole.
  private func readHead() throws -> Int? {
    guard let end = place(of: "\r\n\r\n", before: count) else { return nil }
    guard
      let length = place(of: "\r\nContent-Length: ", before: end).flatMap({ start in
        Int(String(decoding: received[(start + 18)..<end].prefix { $0 != 13 }, as: UTF8.self))
      })
    else { throw UsageError("an answer has no Content-Length") }
    let whole = end + 4 + length
    if whole > received.count {
      received += [UInt8](repeating: 0, count: whole - received.count)
    }
    return whole
  }

  /// All items of an atomic request fail together: the first of the answer tells of all.
  private static let lookedAt = 1_000

  private func check() throws {
    let end = min(count, Self.lookedAt)
    isRefused = ["429", "503"].contains { received[9..<12].elementsEqual($0.utf8) }
    if isRefused { return }
    if received[9] == UInt8(ascii: "2"), place(of: "serverErrorCode", before: end) == nil { return }
    let text = String(decoding: received[..<min(count, 800)], as: UTF8.self)
    throw UsageError("the server answered: \(text)")
  }

  private func place(of text: StaticString, before end: Int) -> Int? {
    received.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return nil }
      var position = 0
      while let hit = memchr(start + position, Int32(text.utf8Start[0]), end - position) {
        position = UnsafeRawPointer(hit) - start
        guard position + text.utf8CodeUnitCount <= end else { return nil }
        if memcmp(hit, text.utf8Start, text.utf8CodeUnitCount) == 0 { return position }
        position += 1
      }
      return nil
    }
  }
}
