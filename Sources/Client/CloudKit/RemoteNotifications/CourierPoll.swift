/// The course of listening to the web courier (CloudKit Web Services, "Tokens"): a token is made
/// and registered, then its URL is polled; each poll brings one notification or nothing.
struct CourierPoll: Sendable {
  enum Event: Sendable {
    /// Nothing is under way: what is to be done?
    case proceed
    case created(token: String, url: URL?)
    case registered
    case polled(status: Int, body: Data)
    case failed(CKError)
    /// The poll's time was over without an answer.
    case timedOut
  }

  enum Action: Sendable {
    case create
    case register(token: String)
    case poll(URL)
    case deliver(Data)
    /// Let time pass, then proceed.
    case wait(TimeInterval)
    /// There is no hope.
    case fail(CKError)
  }

  private enum Stage {
    case withoutToken
    case unregistered(token: String, url: URL)
    case ready(URL)
  }

  /// The longest pause after failures, in seconds.
  static let longestDelay: TimeInterval = 60

  private var stage = Stage.withoutToken
  /// Since the last answer to a poll.
  private var failures = 0

  /// - Parameter jitter: a random number in 0…1, so that clients that failed together come back
  ///   apart.
  mutating func handle(_ event: Event, jitter: Double) -> Action {
    switch event {
    case .proceed, .timedOut:
      return next
    case .created(let token, let url):
      guard let url else {
        return .fail(
          CKError(.internalError, "the server's answer to tokens/create has no webcourierURL"))
      }
      stage = .unregistered(token: token, url: url)
      return next
    case .registered:
      if case .unregistered(_, let url) = stage { stage = .ready(url) }
      return next
    case .polled(let status, let body) where (200..<300).contains(status):
      failures = 0
      return body.isEmpty ? next : .deliver(body)
    case .polled(let status, _) where Self.isPassing(status):
      // A new token would begin at this moment, and miss what came since the last answer.
      failures += 1
      return .wait(delay(jitter))
    case .polled:
      // The token is dead or unknown: start over, at once the first time.
      stage = .withoutToken
      failures += 1
      return failures == 1 ? next : .wait(delay(jitter))
    case .failed(let error):
      guard Self.mayHeal(error) else { return .fail(error) }
      failures += 1
      return .wait(max(delay(jitter), error.retryAfterSeconds ?? 0))
    }
  }

  /// Whether an answer tells of the server's state, or of something before it, and not of the token:
  /// a server that stops or is busy (RFC 9110, section 15.6; 408 and 429).
  private static func isPassing(_ status: Int) -> Bool {
    status >= 500 || status == 408 || status == 429
  }

  private var next: Action {
    switch stage {
    case .withoutToken: .create
    case .unregistered(let token, _): .register(token: token)
    case .ready(let url): .poll(url)
    }
  }

  private func delay(_ jitter: Double) -> TimeInterval {
    min(Self.longestDelay, pow(2, Double(min(failures, 10) - 1))) * (0.5 + jitter / 2)
  }

  private static func mayHeal(_ error: CKError) -> Bool {
    switch error.code {
    case .networkFailure, .networkUnavailable, .serverResponseLost, .serviceUnavailable,
      .requestRateLimited, .zoneBusy, .internalError:
      true
    default:
      false
    }
  }
}
