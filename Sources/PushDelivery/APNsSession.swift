/// When to connect to APNs and how much to send, as a value: the client asks it at each event and
/// does what it answers.
///
/// A new connection allows one request until the first was answered, so the first push goes alone.
/// After an end that followed an answer the next connection is tried at once; after one without,
/// later and later (``RetryPolicy/reconnect``).
struct APNsSession: Sendable {
  enum Phase: Sendable, Hashable {
    /// There is no connection and nothing to send.
    case idle
    case connecting
    /// Connected; the first push is to go alone.
    case ready
    /// The first push is on its way.
    case probing
    /// Pushes go side by side.
    case open
    /// Waiting before the next attempt to connect.
    case resting
    case closed
  }

  enum Event: Sendable, Hashable {
    /// Pushes wait.
    case work
    case opened
    /// A request was answered.
    case answered
    /// A request ended without an answer while the connection lasts.
    case failed
    /// The connection takes no more requests. `random` is in 0 ..< 1; `hasWork` says whether pushes
    /// wait.
    case ended(random: Double, hasWork: Bool)
    case rested(hasWork: Bool)
    case close
  }

  enum Action: Sendable, Hashable {
    case none
    case connect
    case sendOne
    case sendAll
    /// Fail what waits, since there is no connection to be had, and rest for so many seconds.
    case rest(seconds: Double)
    /// Fail what waits, for good.
    case giveUp
  }

  private(set) var phase = Phase.idle
  /// Ends in a row without an answer in between.
  private var fruitless = 0

  mutating func handle(_ event: Event) -> Action {
    switch (phase, event) {
    case (.closed, _):
      return event == .work ? .giveUp : .none
    case (_, .close):
      phase = .closed
      return .giveUp
    case (.idle, .work):
      phase = .connecting
      return .connect
    case (.ready, .work):
      phase = .probing
      return .sendOne
    case (.open, .work):
      return .sendAll
    case (.connecting, .opened):
      phase = .probing
      return .sendOne
    case (.probing, .answered):
      fruitless = 0
      phase = .open
      return .sendAll
    case (.probing, .failed):
      phase = .probing
      return .sendOne
    case (.open, .answered):
      fruitless = 0
      return .none
    case (.connecting, .ended(let random, let hasWork)),
      (.ready, .ended(let random, let hasWork)),
      (.probing, .ended(let random, let hasWork)),
      (.open, .ended(let random, let hasWork)):
      return end(random: random, hasWork: hasWork)
    case (.resting, .rested(let hasWork)):
      phase = hasWork ? .connecting : .idle
      return hasWork ? .connect : .none
    default:
      return .none
    }
  }

  /// There was nothing to send when one push was asked for.
  mutating func hadNothingToSend() {
    if phase == .probing { phase = .ready }
  }

  private mutating func end(random: Double, hasWork: Bool) -> Action {
    let wasFruitful = phase == .open
    guard !wasFruitful else {
      phase = hasWork ? .connecting : .idle
      return hasWork ? .connect : .none
    }
    let delay = RetryPolicy.reconnect.delay(attempt: fruitless, random: random)
    fruitless += 1
    phase = .resting
    return .rest(seconds: delay)
  }
}
