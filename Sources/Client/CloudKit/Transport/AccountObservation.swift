internal import CloudKitModel
internal import JSONCoding
internal import WebServices

/// The account status of a client, as the server's answers show it.
///
/// Only some answers show the status. If the server refuses a request and asks for authentication,
/// there is no account. If a request with a token succeeds, there is an account. The first answer
/// that shows the status sets it, and is not a change.
struct AccountObservation: Sendable {
  /// A status that an answer shows.
  enum Event: Sendable, Hashable {
    /// The server accepts the user's token.
    case available
    /// The server requires a user, and the request had no valid token.
    case noAccount
  }

  /// The status that the latest of these answers showed; nil before the first one.
  private var known: Event?

  /// Records the status that an answer showed, and returns whether the status has changed. The
  /// first status is not a change.
  mutating func handle(_ event: Event) -> Bool {
    defer { known = event }
    return known != nil && known != event
  }
}

extension AccountObservation.Event {
  /// Reads the account status from an answer; nil if the answer shows nothing about the account.
  init?(_ response: TransportResponse, hasToken: Bool) {
    if (200..<300).contains(response.status) {
      // Any caller can read the public database, so success without a token shows nothing.
      guard hasToken else { return nil }
      self = .available
      return
    }
    // An answer that is not JSON shows nothing about the account.
    guard let json = try? JSONValue(parsing: response.body),
      let error = ServiceError(body: json),
      error.code == .authenticationFailed || error.code == .authenticationRequired
    else { return nil }
    self = .noAccount
  }
}
