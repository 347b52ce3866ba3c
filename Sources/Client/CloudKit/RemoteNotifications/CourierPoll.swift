/// The state of a reader of the web courier, as a value that decides each next step.
///
/// The reader makes a token, registers it and polls its URL (CloudKit Web Services Reference,
/// "Tokens"). Each poll returns one notification or nothing. A shell such as ``CourierListener``
/// carries out the actions.
struct CourierPoll: Sendable {
  /// An event that the shell reports.
  enum Event: Sendable {
    /// No action is in progress; the state returns the next one.
    case proceed
    /// The server made a token. `url` is the courier's URL; nil if the answer had none.
    case created(token: String, url: URL?)
    /// The server registered the token.
    case registered
    /// The courier answered a poll.
    case polled(status: Int, body: Data)
    /// An action failed.
    case failed(CKError)
    /// A poll got no answer within its timeout.
    case timedOut
  }

  /// An action for the shell.
  enum Action: Sendable {
    /// Make a token with `tokens/create`.
    case create
    /// Register the token with `tokens/register`.
    case register(token: String)
    /// Poll the URL of the courier.
    case poll(URL)
    /// Pass the body of an answer to the program.
    case deliver(Data)
    /// Wait for this number of seconds, then report `proceed`.
    case wait(TimeInterval)
    /// Stop: waiting cannot repair this error.
    case fail(CKError)
  }

  /// The progress of the token.
  private enum Stage {
    /// There is no token.
    case withoutToken
    /// The server made a token and has not registered it.
    case unregistered(token: String, url: URL)
    /// The token is registered; the URL can be polled.
    case ready(URL)
  }

  /// The longest pause after failures, in seconds.
  static let longestDelay: TimeInterval = 60

  private var stage = Stage.withoutToken
  /// The number of failures since the last successful poll.
  private var failures = 0

  /// Returns the action that follows an event.
  ///
  /// Pauses after failures double from 1 second to ``longestDelay``, with a random part. A pause is
  /// at least as long as a `Retry-After` of the server.
  ///
  /// - Parameter jitter: A random number in 0…1. It spreads the clients that failed at the same
  ///   moment.
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
      // A new token starts at the present and would miss the notifications since the last answer,
      // so the reader keeps the token.
      failures += 1
      return .wait(delay(jitter))
    case .polled:
      // The courier does not know the token. The reader starts again, the first time without a
      // pause.
      stage = .withoutToken
      failures += 1
      return failures == 1 ? next : .wait(delay(jitter))
    case .failed(let error):
      guard Self.mayHeal(error) else { return .fail(error) }
      failures += 1
      return .wait(max(delay(jitter), error.retryAfterSeconds ?? 0))
    }
  }

  /// Whether an answer concerns the server or a proxy and not the token. Examples are a server that
  /// stops and one that is busy (RFC 9110, section 15.6; 408 and 429).
  private static func isPassing(_ status: Int) -> Bool {
    status >= 500 || status == 408 || status == 429
  }

  /// The action that the stage requires.
  private var next: Action {
    switch stage {
    case .withoutToken: .create
    case .unregistered(let token, _): .register(token: token)
    case .ready(let url): .poll(url)
    }
  }

  /// Returns the pause after the present number of failures, in seconds.
  private func delay(_ jitter: Double) -> TimeInterval {
    min(Self.longestDelay, pow(2, Double(min(failures, 10) - 1))) * (0.5 + jitter / 2)
  }

  /// Whether the error can pass without a change of the program or its configuration.
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
