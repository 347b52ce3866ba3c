internal import CloudKitModel
internal import JSONCoding
internal import WebServices

/// Watches the answers to a client's requests for a change of the account status.
///
/// Only answers that depend on the account count: one that is refused for want of a user says that
/// there is none, and one that succeeds with a token says that there is one. The first only tells
/// how things stand.
struct AccountObservation: Sendable {
  enum Event: Sendable, Hashable {
    case available
    case noAccount
  }

  private var known: Event?

  /// Whether the status differs from the one before.
  mutating func handle(_ event: Event) -> Bool {
    defer { known = event }
    return known != nil && known != event
  }
}

extension AccountObservation.Event {
  /// What an answer says of the account; nil when it says nothing.
  ///
  /// - Parameter hasToken: whether the request named a user.
  init?(_ response: TransportResponse, hasToken: Bool) {
    if (200..<300).contains(response.status) {
      // Everyone may read the public database without a user.
      guard hasToken else { return nil }
      self = .available
      return
    }
    // An answer that is no JSON says nothing of the account.
    guard let json = try? JSONValue(parsing: response.body),
      let error = ServiceError(body: json),
      error.code == .authenticationFailed || error.code == .authenticationRequired
    else { return nil }
    self = .noAccount
  }
}
