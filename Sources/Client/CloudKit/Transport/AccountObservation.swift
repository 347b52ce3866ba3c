internal import CloudKitModel
internal import JSONCoding
internal import WebServices

/// The account status of a client, as the answers to its requests show it.
///
/// Only answers that depend on the account count. A refusal that asks for authentication shows that
/// there is no account. A success of a request with a token shows that there is one. The first such
/// answer sets the status and is no change.
struct AccountObservation: Sendable {
  /// A status that an answer shows.
  enum Event: Sendable, Hashable {
    /// The server accepts the user's token.
    case available
    /// The server requires a user, and the request had no valid token.
    case noAccount
  }

  /// The status that the last answer showed; nil before the first one.
  private var known: Event?

  /// Records the status that an answer showed.
  ///
  /// - Returns: Whether it differs from the status before. False for the first answer.
  mutating func handle(_ event: Event) -> Bool {
    defer { known = event }
    return known != nil && known != event
  }
}

extension AccountObservation.Event {
  /// Reads the account status from an answer. Returns nil if the answer shows nothing about the
  /// account.
  ///
  /// - Parameter hasToken: Whether the request named a user.
  init?(_ response: TransportResponse, hasToken: Bool) {
    if (200..<300).contains(response.status) {
      // Any caller can read the public database, so success without a token shows nothing.
      guard hasToken else { return nil }
      self = .available
      return
    }
    // An answer that is no JSON shows nothing about the account.
    guard let json = try? JSONValue(parsing: response.body),
      let error = ServiceError(body: json),
      error.code == .authenticationFailed || error.code == .authenticationRequired
    else { return nil }
    self = .noAccount
  }
}
