/// Decides when to ask a silent peer for a sign of life.
///
/// Times are nanoseconds of a clock that only goes forward. Whatever arrives is a sign of life.
struct KeepAlive {
  /// When to ask, and how long to wait.
  struct Intervals: Sendable, Hashable {
    /// After so long a silence while requests are open or waiting.
    var whileBusy: Duration
    /// After so long a silence otherwise.
    var whileIdle: Duration
    /// So long after the question the peer counts as gone.
    var timeout: Duration
  }

  enum Action: Equatable {
    case wait(until: Int64)
    case ping
    /// The peer did not answer in time.
    case giveUp
  }

  private let intervals: Intervals
  private var lastSign: Int64
  private var askedAt: Int64?
  /// Whether something that was due did not come, and nothing else since.
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

  /// Something that was due did not come, so the question is due now.
  mutating func suspect() {
    isSuspect = true
  }

  /// What is to be done now. After ``Action/ping`` the question counts as asked.
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
