/// The number of pushes that one connection to APNs may have now, as a value: the pool reports the
/// events.
///
/// A new connection allows one request until APNs has answered one with a valid provider token or
/// certificate. So the first push goes alone and proves the credentials.
struct APNsConnection: Sendable, Hashable {
  enum Phase: Sendable, Hashable {
    case connecting
    /// Connected; pushes go one by one until APNs has accepted the credentials.
    case proving
    /// Pushes go concurrently.
    case open
  }

  /// Counted from 1 in each client and never reused.
  let number: Int
  private(set) var phase = Phase.connecting
  /// The number of pushes without an answer.
  private(set) var inFlight = 0
  /// Since when the connection has been idle; nil while it is not.
  private(set) var idleSince: Int64?
  private var limit = 0

  init(number: Int) {
    self.number = number
  }

  /// The number of pushes that the connection may be given now.
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

  /// Ends a push.
  ///
  /// - Parameter status: the status of the answer; nil if there was none.
  /// - Returns: whether this push proved the credentials.
  mutating func ended(status: Int?, at now: Int64) -> Bool {
    inFlight -= 1
    if inFlight == 0 { idleSince = now }
    guard phase == .proving, let status, Self.showsAcceptedCredentials(status) else { return false }
    phase = .open
    return true
  }

  /// APNs checks the provider token before the rest of a request. A push that it rejects for a
  /// reason of its own therefore has a good token. One with 403, 429 or an error of the service may
  /// not.
  private static func showsAcceptedCredentials(_ status: Int) -> Bool {
    (200..<500).contains(status) && status != 403 && status != 429
  }
}
