/// The rule that decides whether an operation tries again after a failure, and when.
///
/// Operations of `.utility` and `.background` continue through failing networks and busy servers
/// until their resource timeout. Other operations report the failure at once (Apple: `CKOperation`,
/// "qualityOfService").
///
/// The policy also repeats a call whose outcome is unknown. That is safe, because each call of the
/// client has the same effect whether it is made once or twice.
struct RetryPolicy: Sendable {
  /// A failure of an attempt.
  enum Failure: Sendable, Hashable {
    /// The server did not receive the request.
    case notDelivered
    /// The server may have carried out the request.
    case outcomeUnknown
    /// The server did nothing. `retryAfter` is the number of seconds that it asks the client to
    /// wait; nil if it names none.
    case busy(retryAfter: TimeInterval?)
    /// Another attempt would fail as well.
    case final
  }

  /// A decision of the policy.
  enum Action: Sendable, Hashable {
    /// Send the call again after this number of seconds.
    case retry(after: TimeInterval)
    /// Report the failure.
    case giveUp
  }

  /// The longest pause between attempts, in seconds, if the server asks for none.
  static let longestDelay: TimeInterval = 60

  /// Whether the operation retries at all.
  let isPatient: Bool
  /// The seconds for all attempts together; nil means no limit.
  let resourceTimeout: TimeInterval?
  /// The number of retries so far.
  private var attempts = 0
  /// Whether the outcome of an attempt is unknown, so that a later attempt can find its work done.
  private(set) var mayRepeatWork = false

  init(isPatient: Bool, resourceTimeout: TimeInterval?) {
    self.isPatient = isPatient
    self.resourceTimeout = resourceTimeout
  }

  /// Decides what follows a failure.
  ///
  /// Without a wait from the server, pauses double from 1 second to ``longestDelay``, with a random
  /// part. The policy gives up if the next attempt would begin after the resource timeout.
  ///
  /// - Parameters:
  ///   - elapsed: The seconds since the first attempt began.
  ///   - jitter: A random number in 0…1. It spreads the clients that failed at the same moment.
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
