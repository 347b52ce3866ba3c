/// The rule that decides when a connection sends a PING to a silent peer, and when it closes
/// because of the silence.
///
/// Times are nanoseconds of a monotonic clock. Any bytes from the peer show that the connection
/// works.
struct KeepAlive {
  /// The time limits of a connection.
  struct Intervals: Sendable, Hashable {
    /// The length of the silence before a PING, while requests are open.
    var whileBusy: Duration
    /// The length of the silence before a PING, while no requests are open.
    var whileIdle: Duration
    /// The time that the peer has to answer a PING with any bytes.
    var timeout: Duration
  }

  /// The work that a connection has to do now.
  enum Action: Equatable {
    case wait(until: Int64)
    case ping
    /// The peer did not answer in time: close the connection.
    case giveUp
  }

  private let intervals: Intervals
  /// The time of the last bytes from the peer.
  private var lastSign: Int64
  /// The time of the last PING, if the peer has sent nothing since; `nil` otherwise.
  private var askedAt: Int64?
  /// Whether an answer is overdue and the peer has sent nothing since.
  private(set) var isSuspect = false

  init(intervals: Intervals, now: Int64) {
    self.intervals = intervals
    lastSign = now
  }

  mutating func received(at now: Int64) {
    lastSign = now
    askedAt = nil
    isSuspect = false
  }

  func hasBeenSilent(since time: Int64) -> Bool { lastSign <= time }

  /// Records an overdue answer. The next ``check(at:isBusy:)`` sends a PING.
  mutating func suspect() {
    isSuspect = true
  }

  /// Returns the work that is due now. When the result is ``Action/ping``, the caller must send the
  /// PING: its time limit begins now.
  mutating func check(at now: Int64, isBusy: Bool) -> Action {
    if let askedAt {
      let end = askedAt + intervals.timeout.nanoseconds
      return now >= end ? .giveUp : .wait(until: end)
    }
    let interval = isBusy ? intervals.whileBusy : intervals.whileIdle
    let due = lastSign + interval.nanoseconds
    guard isSuspect || now >= due else { return .wait(until: due) }
    askedAt = now
    return .ping
  }
}
