import CloudKitModel

/// The web auth tokens of users. A web auth token proves in requests that its user has signed in. A
/// session in a web app has tokens, and so does a native client (see ``WebAuthToken``).
public protocol SessionStore: Sendable {
  /// Stores a token.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the token's user is being deleted or was deleted
  ///   recently.
  func addWebAuthToken(_ token: WebAuthToken) async throws
  /// Returns the token with this SHA-256 hash; nil if there is none. The token may have expired:
  /// the caller compares ``WebAuthToken/expires`` with the present time.
  func webAuthToken(withHash hash: [UInt8]) async throws -> WebAuthToken?
  /// Records a request with a session's token, in one write. The write adds the next token of the
  /// session, and makes the session's older tokens expire earlier.
  ///
  /// - Parameters:
  ///   - successor: the next token of the session; nil adds none.
  ///   - olderExpire: a time for the first request with the token; nil for later requests. With a
  ///     time, the write marks the token as used, and the session's older tokens expire at this
  ///     time at the latest.
  /// - Returns: false if no session has a token with this hash. Nothing is written then.
  func rotateWebAuthToken(
    withHash hash: [UInt8], successor: WebAuthToken?, olderExpire: Timestamp?
  ) async throws -> Bool
  /// Ends one session in a web app: deletes all web auth tokens with this session ID, and the
  /// registrations of devices that were made in the session. It does nothing if there are none.
  func endSession(withID id: [UInt8], at timestamp: Timestamp) async throws
  /// Ends a user's sessions in web apps: deletes their web auth tokens, and the registrations of devices
  /// that were made in these sessions.
  ///
  /// - Parameter everywhere: whether to delete the tokens of native clients too, and all registrations
  ///   of the user's devices, browsers and web courier readers. Webhooks stay.
  /// - Returns: the number of ended sessions that had not expired at `timestamp`. Each token of a
  ///   native client counts as a session. Devices do not count.
  func endSessions(
    of userRecordName: String, everywhere: Bool, at timestamp: Timestamp
  ) async throws -> Int
}
