/// The times at which a sync engine fetches and sends by itself.
///
/// The schedule has no clock. All times are seconds of one clock that never goes back, and random
/// numbers are from 0 to 1. The engine asks for ``next`` after each call, waits until that time, and
/// calls ``begin(_:)`` and ``end(_:_:at:random:)`` around the work.
struct SyncSchedule {
  /// Work that the engine does by itself.
  enum Work: Hashable, Sendable {
    case fetch
    case send
  }

  /// The server's demand to wait.
  struct Throttle: Hashable, Sendable {
    /// The error in which the server demanded it.
    var code: CKError.Code
    /// The seconds for which the server accepts no requests.
    var seconds: Double
  }

  /// How work ended.
  enum Outcome: Hashable, Sendable {
    case success
    /// A failure for a reason that passes. The work is repeated after the seconds of the throttle; with
    /// nil, after a time that grows with each failure.
    case failure(Throttle?)
    /// A failure for a reason that stays. The work is not repeated.
    case refusal
  }

  /// The seconds from a new pending change to the send, if no other change comes.
  static let sendDelay = 0.5
  /// The most seconds from the first new pending change to the send.
  static let longestSendDelay = 2.0
  /// The most seconds after a failure without `retryAfter`.
  static let longestRetryDelay = 60.0
  /// The seconds without a fetch after which the engine fetches, in case that no push reached it. The
  /// real time is up to a fifth longer or shorter.
  static let idleTime = 900.0

  /// Whether the engine works by itself. If false, ``next`` never comes.
  private let isAutomatic: Bool
  private var firstChange: Double?
  private var sendTime: Double?
  private var fetchTime: Double?
  /// The time of the fetch after ``idleTime``.
  private var idleFetchTime: Double
  private var failureCount = 0
  private var retryTime = -Double.infinity
  /// The code of the last throttle, and the time at which it ends.
  private var throttle = (code: CKError.Code.requestRateLimited, end: -Double.infinity)

  /// Creates the schedule of an engine that begins to work: it fetches, then sends.
  init(isAutomatic: Bool, at now: Double, random: Double) {
    self.isAutomatic = isAutomatic
    idleFetchTime = Self.idleFetchTime(after: now, random: random)
    resume(at: now)
  }

  var next: (work: Work, time: Double) {
    guard isAutomatic else { return (.fetch, .infinity) }
    let fetch = min(fetchTime ?? .infinity, idleFetchTime)
    let send = sendTime ?? .infinity
    return fetch <= send ? (.fetch, max(fetch, retryTime)) : (.send, max(send, retryTime))
  }

  /// Returns the throttle that still holds, also for the calls of the program; nil if none does.
  func throttle(at now: Double) -> Throttle? {
    throttle.end > now ? Throttle(code: throttle.code, seconds: throttle.end - now) : nil
  }

  // MARK: Triggers

  mutating func noteChange(at now: Double) {
    let first = firstChange ?? now
    firstChange = first
    sendTime = min(now + Self.sendDelay, first + Self.longestSendDelay)
  }

  /// Schedules a fetch because a push came. Pushes during a fetch are one fetch after it.
  mutating func notePush(at now: Double) {
    fetchTime = min(fetchTime ?? .infinity, now)
  }

  /// Schedules a fetch and a send at once, because the account or the connection is back.
  mutating func resume(at now: Double) {
    fetchTime = now
    sendTime = now
    failureCount = 0
    retryTime = throttle.end
  }

  /// Drops all that is scheduled. A later change or push schedules work again.
  mutating func cancel() {
    firstChange = nil
    sendTime = nil
    fetchTime = nil
  }

  // MARK: Work

  /// Begins work. Changes and pushes that come from now on are for the next one.
  mutating func begin(_ work: Work) {
    switch work {
    case .fetch:
      fetchTime = nil
      idleFetchTime = .infinity
    case .send:
      sendTime = nil
      firstChange = nil
    }
  }

  /// Ends work that ``begin(_:)`` began.
  ///
  /// - Parameter outcome: How the work ended. A send that left changes pending has failed.
  mutating func end(_ work: Work, _ outcome: Outcome, at now: Double, random: Double) {
    switch outcome {
    case .success:
      failureCount = 0
      retryTime = -.infinity
    case .failure(let throttle):
      failureCount += 1
      let delay = min(Self.longestRetryDelay, exp2(Double(failureCount - 1)))
      retryTime = now + (throttle?.seconds ?? delay * (1 + random) / 2)
      if let throttle, now + throttle.seconds > self.throttle.end {
        self.throttle = (throttle.code, now + throttle.seconds)
      }
      switch work {
      case .fetch: fetchTime = now
      case .send: sendTime = now
      }
    case .refusal:
      break
    }
    if work == .fetch { idleFetchTime = Self.idleFetchTime(after: now, random: random) }
  }

  private static func idleFetchTime(after now: Double, random: Double) -> Double {
    now + idleTime * 0.8 + idleTime * 0.4 * random
  }
}
