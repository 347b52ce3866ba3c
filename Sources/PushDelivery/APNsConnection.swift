/// When to connect to APNs and how many pushes to send, as a value: the client tells it what
/// happened and does what it answers.
///
/// A new connection allows one request until one with a valid provider token was answered, so the
/// first push goes alone. A connection that ends after that is followed by another as soon as there
/// is work; one that ends before is followed later and later (``RetryPolicy/reconnect``).
struct APNsConnection: Sendable, Hashable {
  enum Phase: Sendable, Hashable {
    /// There is no connection. The next push opens one.
    case idle
    case connecting
    /// Connected; pushes go one by one until APNs has accepted the provider token.
    case proving
    /// Pushes go side by side.
    case open
    /// Waiting before the next attempt to connect.
    case resting
    case closed
  }

  enum Event: Sendable, Hashable {
    /// Pushes wait.
    case work
    /// The connection is there; `limit` requests may be open at a time.
    case opened(limit: Int)
    case limitChanged(Int)
    /// A push was given to the connection.
    case sent
    /// A push was answered, with this status.
    case answered(status: Int)
    /// A push ended without an answer.
    case failed
    /// The connection takes no more pushes. `random` is in 0 ..< 1, for the delay's random part.
    case ended(random: Double)
    case rested
    case close
  }

  enum Action: Sendable, Hashable {
    case none
    case connect
    /// Fail what waits, for there is no connection to be had, and say when so many seconds are over.
    case rest(seconds: Double)
  }

  private(set) var phase = Phase.idle
  /// Pushes on the connection that have no answer yet.
  private(set) var inFlight = 0
  private var limit = 0
  /// Connections in a row that ended before the provider token was accepted.
  private var failures = 0

  /// How many pushes may be given to the connection now.
  var capacity: Int {
    switch phase {
    case .proving: max(0, min(limit, 1) - inFlight)
    case .open: max(0, limit - inFlight)
    case .idle, .connecting, .resting, .closed: 0
    }
  }

  mutating func handle(_ event: Event) -> Action {
    switch (phase, event) {
    case (.closed, _):
      return .none
    case (_, .close):
      phase = .closed
    case (.idle, .work):
      phase = .connecting
      return .connect
    case (.connecting, .opened(let limit)):
      self.limit = limit
      phase = .proving
    case (.proving, .limitChanged(let limit)), (.open, .limitChanged(let limit)):
      self.limit = limit
    case (.proving, .sent), (.open, .sent):
      inFlight += 1
    case (.proving, .answered(let status)):
      inFlight -= 1
      if Self.showsAcceptedToken(status) {
        phase = .open
        failures = 0
      }
    case (.open, .answered), (.proving, .failed), (.open, .failed):
      inFlight -= 1
    case (.open, .ended):
      inFlight = 0
      phase = .idle
    case (.connecting, .ended(let random)), (.proving, .ended(let random)):
      inFlight = 0
      phase = .resting
      defer { failures += 1 }
      return .rest(seconds: RetryPolicy.reconnect.delay(attempt: failures, random: random))
    case (.resting, .rested):
      phase = .idle
    default:
      break
    }
    return .none
  }

  /// APNs looks at the provider token before anything else of a request that it takes up: a push
  /// that it rejects for a reason of its own has a good token, one of 403, 429 or a failing service
  /// may have not.
  private static func showsAcceptedToken(_ status: Int) -> Bool {
    (200..<500).contains(status) && status != 403 && status != 429
  }
}
