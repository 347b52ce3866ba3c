/// The speed of a connection's client: the time for which the server still waits for it.
///
/// libmicrohttpd ends a connection on which nothing moves. A client that sends or takes one byte
/// now and then would keep its connection, and the bytes that it has sent, for ever. This value
/// decides when such a client is too slow.
///
/// A body or an answer has a time for its next bytes. Each byte adds to it what the byte may take at
/// the lowest rate, but a client never has more than ``Limits/grace`` ahead. So the rate counts for
/// the last seconds, and a client that sent or took much at once must still go on. A large piece of
/// an answer has at least the time that the rate gives it.
struct Pace {
  /// The time limits for a client.
  struct Limits: Sendable, Hashable {
    /// The time from the request line to the end of the header fields.
    var head: Duration
    /// The time between requests, until the next request line is complete. The library ends silent
    /// connections earlier, so a client that takes this long has sent a part of the line.
    var line: Duration
    /// The time for which a body or an answer may stand still.
    var grace: Duration
    /// The bytes a second of a body or an answer, in each `grace`.
    var rate: Int

    fileprivate func time(for count: Int) -> Duration {
      .seconds(Double(count) / Double(rate))
    }
  }

  /// A step of a connection.
  enum Event {
    case lineReceived
    case bodyAwaited(within: Duration)
    case bodyReceived(Int)
    /// The client waits for the server: its request is complete or is decided about, or the next
    /// bytes of an answer do not exist yet.
    case serverAwaited
    /// The server begins to send an answer, of which it knows this number of bytes.
    case answerBegan(Int)
    /// This number of further bytes of the answer is being sent. The bytes before are taken.
    case answerTaken(Int)
    /// The answer is sent, or the exchange broke.
    case exchangeEnded
  }

  /// The next step of the connection. In `server` the client waits for the server. In all other
  /// phases the server waits for the client, up to a time.
  private enum Phase {
    /// For a request line or header fields.
    case head(since: ContinuousClock.Instant, until: ContinuousClock.Instant)
    /// For the next bytes of a body, and for its end.
    case body(next: ContinuousClock.Instant, end: ContinuousClock.Instant)
    case server
    case answer(until: ContinuousClock.Instant)
  }

  private let limits: Limits
  private var phase: Phase

  init(_ limits: Limits, at now: ContinuousClock.Instant) {
    self.limits = limits
    phase = .head(since: now, until: now + limits.line)
  }

  /// Processes an event. `now` is evaluated only if a time limit changes.
  mutating func handle(_ event: Event, at now: @autoclosure () -> ContinuousClock.Instant) {
    switch event {
    case .exchangeEnded:
      let now = now()
      phase = .head(since: now, until: now + limits.line)
    case .lineReceived:
      let now = now()
      phase = .head(since: now, until: now + limits.head)
    case .bodyAwaited(let longest):
      let now = now()
      phase = .body(next: now + limits.grace, end: now + longest)
    case .bodyReceived(let count):
      guard case .body(let next, let end) = phase else { return }
      phase = .body(next: min(next + limits.time(for: count), now() + limits.grace), end: end)
    case .serverAwaited: phase = .server
    case .answerBegan(let size):
      phase = .answer(until: now() + limits.grace + limits.time(for: size))
    case .answerTaken(let count):
      let time = limits.time(for: count)
      let most = now() + max(limits.grace, time)
      if case .answer(let until) = phase {
        phase = .answer(until: min(until + time, most))
      } else {
        phase = .answer(until: most)
      }
    }
  }

  /// The time since which the server waits for the head of a request; `nil` once the head is
  /// complete, until the exchange ends.
  var idleSince: ContinuousClock.Instant? {
    if case .head(let since, _) = phase { since } else { nil }
  }

  func isTooSlow(at now: ContinuousClock.Instant) -> Bool {
    switch phase {
    case .server: false
    case .head(_, let until), .answer(let until): now > until
    case .body(let next, let end): now > min(next, end)
    }
  }
}
