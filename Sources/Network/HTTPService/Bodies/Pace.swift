/// How a connection's client keeps up: since when the server waits for it, and for how much.
///
/// The library ends a connection on which nothing moves; a client that sends or takes a byte now
/// and then would keep it for ever. This says when such a client is too slow.
struct Pace {
  /// How much time a client gets.
  struct Limits: Sendable, Hashable {
    /// From a request's line to the end of its header fields.
    var head: Duration
    /// Between requests, until the next request's line is there. The library ends connections that
    /// are quiet for less, so whoever takes as long has sent a part of a line.
    var line: Duration
    /// Before the rate counts.
    var grace: Duration
    /// Bytes a second of a body or an answer, on average.
    var rate: Int
  }

  enum Event {
    /// The request line is there.
    case lineReceived
    /// The header fields are there.
    case headReceived
    case bodyReceived(Int)
    /// The request is whole: the client waits for the server now.
    case requestReceived
    /// An answer of so many bytes is sent; nil when it ends when it ends.
    case answerBegan(size: Int?)
    case exchangeEnded
  }

  private enum Phase {
    case line
    case head
    case body(received: Int)
    case server
    case answer(size: Int)
  }

  private var phase = Phase.line
  private var began: ContinuousClock.Instant

  init(at now: ContinuousClock.Instant) {
    began = now
  }

  mutating func handle(_ event: Event, at now: @autoclosure () -> ContinuousClock.Instant) {
    switch event {
    case .exchangeEnded: phase = .line
    case .lineReceived: phase = .head
    case .headReceived: phase = .body(received: 0)
    case .bodyReceived(let count):
      // The time runs from the end of the head, whatever comes.
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

  /// Since when the client has not sent the head of a request; nil while there is one.
  var idleSince: ContinuousClock.Instant? {
    switch phase {
    case .line, .head: began
    case .body, .server, .answer: nil
    }
  }

  /// Whether the client had more time than it may take.
  func isTooSlow(at now: ContinuousClock.Instant, _ limits: Limits) -> Bool {
    let elapsed = now - began
    switch phase {
    case .server: return false
    case .line: return elapsed > limits.line
    case .head: return elapsed > limits.head
    case .body(let received):
      // So many bytes must be there by now.
      return elapsed > limits.grace
        && Double(received) < (elapsed - limits.grace) / .seconds(1) * Double(limits.rate)
    case .answer(let size):
      return elapsed > limits.grace + .seconds(Double(size) / Double(limits.rate))
    }
  }
}
