/// The speed of a connection's client: the time for which the server has waited, and the number of
/// bytes that moved.
///
/// libmicrohttpd ends a connection on which nothing moves. A client that sends or takes one byte
/// now and then would keep its connection for ever. This value decides when such a client is too
/// slow.
struct Pace {
  /// The time limits for a client.
  struct Limits: Sendable, Hashable {
    /// The time from the request line to the end of the header fields.
    var head: Duration
    /// The time between requests, until the next request line is complete. The library ends silent
    /// connections earlier, so a client that takes this long has sent a part of the line.
    var line: Duration
    /// The time in which a body or an answer need not reach `rate`.
    var grace: Duration
    /// The average bytes a second of a body or an answer, after `grace`.
    var rate: Int
  }

  /// A step of a connection.
  enum Event {
    /// The request line is complete.
    case lineReceived
    /// The header fields are complete.
    case headReceived
    /// This number of bytes of the body arrived.
    case bodyReceived(Int)
    /// The request is complete. The client now waits for the server.
    case requestReceived
    /// The server begins to send an answer of this size in bytes; `nil` for a stream of unknown
    /// length.
    case answerBegan(size: Int?)
    /// The answer is sent, or the exchange broke.
    case exchangeEnded
  }

  /// The next step of the connection. In `server` the client waits for the server. In all other
  /// phases the server waits for the client.
  private enum Phase {
    case line
    case head
    case body(received: Int)
    case server
    case answer(size: Int)
  }

  private var phase = Phase.line
  /// The start of the present phase.
  private var began: ContinuousClock.Instant

  /// Starts with the wait for a request line.
  init(at now: ContinuousClock.Instant) {
    began = now
  }

  /// Processes an event. `now` is evaluated only if the event starts a phase with a time limit.
  mutating func handle(_ event: Event, at now: @autoclosure () -> ContinuousClock.Instant) {
    switch event {
    case .exchangeEnded: phase = .line
    case .lineReceived: phase = .head
    case .headReceived: phase = .body(received: 0)
    case .bodyReceived(let count):
      // The time of a body runs from the end of the head and does not start again.
      if case .body(let received) = phase { phase = .body(received: received + count) }
      return
    case .requestReceived:
      phase = .server
      return
    case .answerBegan(let size):
      phase = size.map { .answer(size: $0) } ?? .server
    }
    began = now()
  }

  /// The time since which the server waits for the head of a request; `nil` once the head is
  /// complete, until the exchange ends.
  var idleSince: ContinuousClock.Instant? {
    switch phase {
    case .line, .head: began
    case .body, .server, .answer: nil
    }
  }

  /// Whether the client takes more time than the limits permit.
  func isTooSlow(at now: ContinuousClock.Instant, _ limits: Limits) -> Bool {
    let elapsed = now - began
    switch phase {
    case .server: return false
    case .line: return elapsed > limits.line
    case .head: return elapsed > limits.head
    case .body(let received):
      // The client must have sent at least these bytes by now.
      return elapsed > limits.grace
        && Double(received) < (elapsed - limits.grace) / .seconds(1) * Double(limits.rate)
    case .answer(let size):
      return elapsed > limits.grace + .seconds(Double(size) / Double(limits.rate))
    }
  }
}
