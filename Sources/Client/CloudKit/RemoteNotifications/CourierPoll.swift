/// The state of a reader of the web courier. It takes events and decides the next action.
///
/// The web courier is the server's URL at which a client fetches its notifications without APNs.
/// The reader gets a token from the server, registers it and polls the token's URL (CloudKit Web
/// Services Reference, "Tokens"). Each poll returns one notification or nothing.
/// ``CourierListener`` carries out the actions and reports the events.
struct CourierPoll: Sendable {
  /// An event that ``CourierListener`` reports.
  enum Event: Sendable {
    /// No action is in progress. The answer is the next action.
    case proceed
    /// The server made a token. `url` is the courier's URL; nil if the answer had none.
    case created(token: String, url: URL?)
    case registered
    /// The courier answered a poll. `eventID` is the position after the notification in the body; nil
    /// if there is none.
    case polled(status: Int, body: Data, eventID: String? = nil)
    case failed(CKError)
    /// A poll got no answer within its timeout.
    case timedOut
  }

  /// An action that ``CourierListener`` carries out.
  enum Action: Sendable {
    /// Make a token with `tokens/create`.
    case create
    /// Register the token with `tokens/register`.
    case register(token: String)
    /// Report that the device's notifications arrive from now on.
    case reportConnection
    /// Poll the URL of the courier. The event ID acknowledges the notifications up to it; it is empty
    /// before the first one.
    case poll(URL, after: String)
    /// Pass the body of an answer to the program.
    case deliver(Data)
    /// Wait for this number of seconds, then report `proceed`.
    case wait(TimeInterval)
    /// Stop with this error: another attempt would fail too.
    case fail(CKError)
  }

  /// The steps from a new token to the first poll.
  private enum Stage {
    case withoutToken
    /// The server made a token and has not registered it.
    case unregistered(token: String, url: URL)
    /// The token is registered; the URL can be polled.
    case ready(URL)
  }

  /// The longest pause between attempts after failures, in seconds, unless the server asks for a
  /// longer one.
  static let longestDelay: TimeInterval = 60

  private var stage = Stage.withoutToken
  private var failures = 0
  private var isConnected = false
  /// The body of an answer that the program does not have yet, and the event ID after it.
  private var answer: (body: Data, eventID: String?)?
  /// The event ID of the last notification that the program has; empty without one.
  private var lastEventID = ""

  /// Returns the action that follows an event.
  ///
  /// The pause after the first failure is 1 second. Each further failure in a row doubles the
  /// pause, up to ``longestDelay``. The pause is then shortened by a random part of at most one
  /// half.
  ///
  /// If a request for a token failed with a `Retry-After`, the pause is at least as long as the
  /// server asks. A `Retry-After` in the answer to a poll has no effect.
  ///
  /// - Parameter jitter: A random number from 0 to 1, inclusive; 1 means the whole pause. Different
  ///   pauses keep clients that failed at the same moment from retrying at the same moment.
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
      lastEventID = ""
      return next
    case .registered:
      if case .unregistered(_, let url) = stage { stage = .ready(url) }
      isConnected = true
      return .reportConnection
    case .polled(let status, let body, let eventID) where (200..<300).contains(status):
      failures = 0
      answer = body.isEmpty ? nil : (body, eventID)
      if isConnected { return next }
      isConnected = true
      return .reportConnection
    case .polled(let status, _, _) where Self.isPassing(status):
      // A new token gets only later notifications, and would miss those since the last answer. So
      // the reader does not replace the token.
      noteFailure()
      return .wait(delay(jitter))
    case .polled:
      // The courier does not know the token, so the reader gets a new token. If this is the first
      // failure since a successful poll, there is no pause.
      stage = .withoutToken
      noteFailure()
      return failures == 1 ? next : .wait(delay(jitter))
    case .failed(let error):
      guard Self.mayHeal(error) else { return .fail(error) }
      noteFailure()
      return .wait(max(delay(jitter), error.retryAfterSeconds ?? 0))
    }
  }

  /// Whether an answer with this status shows a problem of the server or a proxy, and not of the
  /// token. Examples are a server that is stopping and a server that is busy (RFC 9110, section
  /// 15.6; 408 and 429).
  private static func isPassing(_ status: Int) -> Bool {
    status >= 500 || status == 408 || status == 429
  }

  private mutating func noteFailure() {
    failures += 1
    isConnected = false
  }

  private var next: Action {
    mutating get {
      guard let (body, eventID) = answer.take() else { return nextOfStage }
      lastEventID = eventID ?? lastEventID
      return .deliver(body)
    }
  }

  private var nextOfStage: Action {
    switch stage {
    case .withoutToken: .create
    case .unregistered(let token, _): .register(token: token)
    case .ready(let url): .poll(url, after: lastEventID)
    }
  }

  private func delay(_ jitter: Double) -> TimeInterval {
    min(Self.longestDelay, pow(2, Double(min(failures, 10) - 1))) * (0.5 + jitter / 2)
  }

  /// Whether a later attempt can succeed without a change of the program or its configuration.
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
