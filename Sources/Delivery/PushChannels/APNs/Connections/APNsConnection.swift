/// The state of one connection to APNs, as a value without I/O. It says how many pushes the
/// connection can take now.
///
/// On a new connection, APNs permits one request at a time until a request has shown a valid
/// provider token or certificate. So the first push goes alone, and its answer is the *proof* that
/// APNs accepts the credential.
struct APNsConnection: Sendable, Hashable {
  /// The phase of a connection.
  enum Phase: Sendable, Hashable {
    case connecting
    /// The connection is open. Pushes go one by one until there is the proof that APNs accepts the
    /// credential.
    case proving
    /// There is the proof. Pushes go concurrently.
    case open
  }

  /// The number of the connection, from 1 in each client. Numbers are never reused.
  let number: Int
  private(set) var phase = Phase.connecting
  /// The number of pushes that were sent and have no answer yet.
  private(set) var inFlight = 0
  /// The time since which the connection has had no open request, in nanoseconds of a monotonic
  /// clock. `nil` while it has one, or is being opened.
  private(set) var idleSince: Int64?
  /// The number of concurrent requests that APNs permits (`SETTINGS_MAX_CONCURRENT_STREAMS`).
  private var limit = 0

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

  /// Handles the end of the handshake: the connection is open.
  ///
  /// - Parameter limit: The number of concurrent requests that APNs permits.
  mutating func opened(limit: Int, at now: Int64) {
    self.limit = limit
    phase = .proving
    idleSince = now
  }

  mutating func limitChanged(_ limit: Int) {
    self.limit = limit
  }

  /// Handles a push that is sent on the connection.
  mutating func sent() {
    inFlight += 1
    idleSince = nil
  }

  /// Handles the end of a push.
  ///
  /// - Parameter status: The HTTP status of the answer; `nil` if there was no answer.
  /// - Returns: Whether the answer is the proof that APNs accepts the credential.
  mutating func ended(status: Int?, at now: Int64) -> Bool {
    inFlight -= 1
    if inFlight == 0 { idleSince = now }
    guard phase == .proving, let status, Self.showsAcceptedCredentials(status) else { return false }
    phase = .open
    return true
  }

  /// Whether an answer with this status shows that APNs accepted the credential.
  ///
  /// APNs checks the credential before the rest of a request. So APNs accepted the credential of a
  /// push that it rejects for another reason. Statuses 403, 429 and 5xx prove nothing.
  private static func showsAcceptedCredentials(_ status: Int) -> Bool {
    (200..<500).contains(status) && status != 403 && status != 429
  }
}
