/// The state of one connection to APNs, as a value: the number of pushes that it can take now.
///
/// A new connection permits one request until APNs has answered one with a valid provider token or
/// certificate. The first push therefore goes alone and proves the credential.
struct APNsConnection: Sendable, Hashable {
  /// The phase of a connection.
  enum Phase: Sendable, Hashable {
    /// The connection is being opened.
    case connecting
    /// Connected. Pushes go one by one until APNs has accepted the credential.
    case proving
    /// Pushes go concurrently.
    case open
  }

  /// The number of the connection, from 1 in each client. Numbers are never reused.
  let number: Int
  /// The phase.
  private(set) var phase = Phase.connecting
  /// The number of pushes without an answer.
  private(set) var inFlight = 0
  /// The time since which the connection has been idle, in nanoseconds; `nil` while it is in use or
  /// connecting.
  private(set) var idleSince: Int64?
  /// The number of concurrent requests that APNs permits (`SETTINGS_MAX_CONCURRENT_STREAMS`).
  private var limit = 0

  /// Creates the state of a connection that is being opened.
  init(number: Int) {
    self.number = number
  }

  /// The number of pushes that the connection can take now.
  var capacity: Int {
    switch phase {
    case .connecting: 0
    case .proving: max(0, min(limit, 1) - inFlight)
    case .open: max(0, limit - inFlight)
    }
  }

  /// Handles the end of the handshake.
  mutating func opened(limit: Int, at now: Int64) {
    self.limit = limit
    phase = .proving
    idleSince = now
  }

  /// Handles a new limit of concurrent requests.
  mutating func limitChanged(_ limit: Int) {
    self.limit = limit
  }

  /// Handles a push that was given to the connection.
  mutating func sent() {
    inFlight += 1
    idleSince = nil
  }

  /// Handles the end of a push.
  ///
  /// - Parameter status: The status of the answer; `nil` if there was none.
  /// - Returns: Whether this push proved the credential.
  mutating func ended(status: Int?, at now: Int64) -> Bool {
    inFlight -= 1
    if inFlight == 0 { idleSince = now }
    guard phase == .proving, let status, Self.showsAcceptedCredentials(status) else { return false }
    phase = .open
    return true
  }

  /// Whether an answer shows that APNs accepted the credential.
  ///
  /// APNs checks the provider token before the rest of a request. A push that APNs rejects for
  /// another reason therefore has a good token. Statuses 403, 429 and 5xx prove nothing.
  private static func showsAcceptedCredentials(_ status: Int) -> Bool {
    (200..<500).contains(status) && status != 403 && status != 429
  }
}
