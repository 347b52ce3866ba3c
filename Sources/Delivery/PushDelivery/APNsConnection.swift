/// How many pushes one connection to APNs may have now, as a value: the pool tells it what happened.
///
/// A new connection allows one request until one with a valid provider token or certificate was
/// answered, so the first push goes alone and proves it.
struct APNsConnection: Sendable, Hashable {
  enum Phase: Sendable, Hashable {
    case connecting
    /// Connected; pushes go one by one until APNs has accepted one's credentials.
    case proving
    /// Pushes go side by side.
    case open
  }

  /// Counted from 1 over the life of a client and never used again.
  let number: Int
  private(set) var phase = Phase.connecting
  /// Pushes on the connection that have no answer yet.
  private(set) var inFlight = 0
  /// Since when the connection has had nothing to do; nil while it has.
  private(set) var idleSince: Int64?
  private var limit = 0

  init(number: Int) {
    self.number = number
  }

  /// How many pushes may be given to the connection now.
  var capacity: Int {
    switch phase {
    case .connecting: 0
    case .proving: max(0, min(limit, 1) - inFlight)
    case .open: max(0, limit - inFlight)
    }
  }

  mutating func opened(limit: Int, at now: Int64) {
    self.limit = limit
    phase = .proving
    idleSince = now
  }

  mutating func limitChanged(_ limit: Int) {
    self.limit = limit
  }

  mutating func sent() {
    inFlight += 1
    idleSince = nil
  }

  /// A push has come to its end.
  ///
  /// - Parameter status: of the answer; nil if there was none.
  /// - Returns: whether this was the proof.
  mutating func ended(status: Int?, at now: Int64) -> Bool {
    inFlight -= 1
    if inFlight == 0 { idleSince = now }
    guard phase == .proving, let status, Self.showsAcceptedCredentials(status) else { return false }
    phase = .open
    return true
  }

  /// APNs looks at the provider token before anything else of a request that it takes up: a push
  /// that it rejects for a reason of its own has a good token, one of 403, 429 or a failing service
  /// may have not.
  private static func showsAcceptedCredentials(_ status: Int) -> Bool {
    (200..<500).contains(status) && status != 403 && status != 429
  }
}
