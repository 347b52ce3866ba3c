import CLinuxEvents
import CommandInterface
import Foundation

/// A load of HTTP requests to a server on this machine. ``run(seconds:)`` sends from one thread
/// over several connections: each connection sends its next request as soon as it has the answer.
/// ``pace(rate:seconds:delay:)`` sends at an even rate over one connection.
///
/// The generator uses little processor time, because the measured server runs on the same machine.
struct LoadGenerator {
  /// The answers of a run.
  struct Result: Sendable {
    /// The seconds from each request to its answer. ``LoadGenerator/run(seconds:)`` adds only
    /// successful answers within the time of the run. ``LoadGenerator/pace(rate:seconds:delay:)``
    /// adds all answers, also refusals.
    var times: [Double] = []
    var seconds = 0.0
    /// The number of successful answers, those after the end of the run included.
    var answered = 0
    /// The number of requests that the server refused with the status 429 or 503.
    var refused = 0

    /// The number of ``times`` for each second of the run.
    var rate: Double { seconds > 0 ? Double(times.count) / seconds : 0 }

    static func += (left: inout Result, right: Result) {
      left.times += right.times
      left.seconds += right.seconds
      left.answered += right.answered
      left.refused += right.refused
    }
  }

  let port: Int
  /// The number of connections of ``run(seconds:)``. Each has one request at a time.
  let connections: Int
  /// The requests, which are sent in a cycle with new record names. The second request of the list
  /// is sent first.
  let requests: [LoadRequest]
  /// Whether ``run(seconds:)`` counts refused requests (status 429 or 503). If false, a refusal
  /// ends the run with an error.
  var toleratesRefusals = false

  /// Sends requests from a new thread for a number of seconds, and waits for the last answers.
  ///
  /// - Throws: `UsageError` for an answer that is neither a success nor a permitted refusal, or
  ///   after ten seconds without an answer.
  func run(seconds: Double) async throws -> Result {
    try await onThread { try drive(seconds) }
  }

  private func drive(_ seconds: Double) throws -> Result {
    let poll = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard poll >= 0 else { throw UsageError("the event loop cannot be created") }
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
          guard toleratesRefusals else {
            throw UsageError("a server refuses requests because of its load or a limit")
          }
          result.refused += 1
          guard now - begin < seconds else {
            underWay -= 1
            continue
          }
          try exchange.send(supply.next())
          continue
        }
        result.answered += 1
        // The method waits for the answers to requests that are open at the end, but does not add
        // their times.
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
  /// Sends requests at an even rate over one connection, on the caller's thread.
  ///
  /// Each request has a time at which it is due. If a request is late, the later requests keep
  /// their due times. The time of a late request counts from its due time. So a slow server cannot
  /// hide its delays by slowing down the load.
  ///
  /// - Parameter delay: The seconds until the first request. With different delays, several loads
  ///   do not send at the same time.
  /// - Throws: `UsageError` for an answer that is neither a success nor a refusal (status 429 or
  ///   503), or after ten seconds without an answer.
  func pace(rate: Double, seconds: Double, delay: Double = 0) throws -> Result {
    let exchange = try LoadExchange(port: port)
    var supply = RequestSupply(requests)
    let count = Int(rate * seconds)
    var result = Result(times: [], seconds: seconds)
    let start = monotonicSeconds() + delay
    for number in 0..<count {
      let due = start + Double(number) / rate
      let wait = due - monotonicSeconds()
      // The pause blocks a thread that does nothing else, so it is more exact than a timer of Swift
      // concurrency.
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

  /// Returns how often each request of the list was sent, if `answered` requests were sent in all.
  func uses(among answered: Int) -> [Int] {
    requests.indices.map { index in
      // ``RequestSupply`` begins with the second request of the list.
      let first = (index + requests.count - 1) % requests.count
      return first < answered ? 1 + (answered - 1 - first) / requests.count : 0
    }
  }
}

/// A cycle of requests. Before a request is sent, its records get new names.
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

/// A connection of a load, with the answer that the connection receives.
private final class LoadExchange {
  let descriptor: Int32
  /// The time at which the last request was sent, in seconds of ``monotonicSeconds()``.
  private(set) var sent = 0.0
  /// Whether the server refused the last request: the answer's status is 429 or 503.
  private(set) var isRefused = false
  private var received = [UInt8](repeating: 0, count: 256 << 10)
  private var count = 0
  /// The number of bytes in the whole answer; `nil` until its header has arrived.
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

  /// Reads the bytes that have arrived, and returns whether the answer is complete. The method does
  /// not block.
  ///
  /// - Throws: `UsageError` if the connection breaks, if the answer has no Content-Length, or if it
  ///   is neither a success nor a refusal.
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

  /// The number of bytes at the start of an answer that ``check()`` searches for an error. All
  /// operations of an atomic request fail together, so the first result is enough.
  private static let lookedAt = 1_000

  /// Throws a `UsageError` if the answer is neither a success nor a refusal.
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
