/// Decides whether an operation tries again after a failure, and when.
///
/// Operations of utility and background quality go on through networks that fail and servers that
/// are busy until their resource timeout; others report the failure at once (Apple: `CKOperation`,
/// "qualityOfService"). A call whose outcome is unknown is repeated too: to make any of the client's
/// calls twice has the effect of making it once.
struct RetryPolicy: Sendable {
  enum Failure: Sendable, Hashable {
    /// The server did not get the request.
    case notDelivered
    /// The server may have carried out the request.
    case outcomeUnknown
    /// The server did nothing and says when to come back, in seconds, if it says so.
    case busy(retryAfter: TimeInterval?)
    /// Another attempt is pointless.
    case final
  }

  enum Action: Sendable, Hashable {
    case retry(after: TimeInterval)
    case giveUp
  }

  /// The longest pause between attempts that the server did not ask for.
  static let longestDelay: TimeInterval = 60

  let isPatient: Bool
  /// Seconds from the start; nil means no limit.
  let resourceTimeout: TimeInterval?
  private var attempts = 0
  /// Whether an attempt's outcome is unknown, so that the next may find its work done.
  private(set) var mayRepeatWork = false

  init(isPatient: Bool, resourceTimeout: TimeInterval?) {
    self.isPatient = isPatient
    self.resourceTimeout = resourceTimeout
  }

  /// - Parameters:
  ///   - elapsed: seconds since the first attempt began.
  ///   - jitter: a random number in 0…1, so that clients that failed together come back apart.
  mutating func handle(
    _ failure: Failure, elapsed: TimeInterval, jitter: Double
  ) -> Action {
    guard isPatient else { return .giveUp }
    let ownDelay = min(Self.longestDelay, pow(2, Double(min(attempts, 10)))) * (0.5 + jitter / 2)
    let delay: TimeInterval
    switch failure {
    case .final: return .giveUp
    case .outcomeUnknown:
      mayRepeatWork = true
      delay = ownDelay
    case .notDelivered: delay = ownDelay
    case .busy(let retryAfter):
      delay = retryAfter.map { max(0, $0) * (1 + jitter / 10) } ?? ownDelay
    }
    if let resourceTimeout, elapsed + delay >= resourceTimeout { return .giveUp }
    attempts += 1
    return .retry(after: delay)
  }
}
