/// The rule that decides whether an operation tries again after a failure, and when.
///
/// Operations with the quality of service `.utility` or `.background` try again while the network
/// fails or the server is busy, until their resource timeout. Other operations report the failure
/// at once (Apple: `CKOperation`, "qualityOfService").
///
/// The policy also repeats a call if nobody knows whether the server carried it out. That is safe,
/// because each call of the client has the same effect when it is sent twice.
struct OperationRetryPolicy: Sendable {
  /// A failure of an attempt.
  enum Failure: Sendable, Hashable {
    /// The server did not receive the request.
    case notDelivered
    /// The server may have carried out the request, or may not have received it.
    case outcomeUnknown
    /// The server refused the request because it is busy. `retryAfter` is the number of seconds
    /// that the server asks the client to wait; nil if the server names none.
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

  /// The longest pause between attempts, in seconds, unless the server asks for a longer one.
  static let longestDelay: TimeInterval = 60

  let isPatient: Bool
  /// The seconds for all attempts and pauses together; nil means no limit.
  let resourceTimeout: TimeInterval?
  private var attempts = 0
  /// Whether an earlier attempt may have been carried out. A later attempt may then find that its
  /// work is done already.
  private(set) var mayRepeatWork = false

  init(isPatient: Bool, resourceTimeout: TimeInterval?) {
    self.isPatient = isPatient
    self.resourceTimeout = resourceTimeout
  }

  /// Decides whether to try again after a failure.
  ///
  /// If the server asks for a wait, the pause is this wait, longer by a random part of at most a
  /// tenth. Otherwise the first pause is 1 second, and each further pause is twice as long, up to
  /// ``longestDelay``. Such a pause is then shortened by a random part of at most one half.
  ///
  /// The policy gives up if the pause would end at or after the resource timeout.
  ///
  /// - Parameters:
  ///   - elapsed: The seconds since the first attempt began.
  ///   - jitter: A random number from 0 to 1, inclusive. Different pauses keep clients that failed
  ///     at the same moment from retrying at the same moment.
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
