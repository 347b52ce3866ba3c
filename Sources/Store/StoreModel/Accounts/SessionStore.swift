import CloudKitModel

/// The web auth tokens of users: those of sessions in web apps, and those of native clients.
public protocol SessionStore: Sendable {
  /// Stores a token.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the token's user is being deleted or was deleted
  ///   recently.
  func addWebAuthToken(_ token: WebAuthToken) async throws
  /// Returns the token with this SHA-256 hash; nil if there is none. It may have expired: the
  /// caller checks ``WebAuthToken/expires``.
  func webAuthToken(withHash hash: [UInt8]) async throws -> WebAuthToken?
  /// Records a request with a session's token: adds the token's successor and shortens the life of
  /// older tokens, in one write.
  ///
  /// - Parameters:
  ///   - successor: a token that is added to the session.
  ///   - olderExpire: not nil for the first request with the token, which is then marked as used.
  ///     The session's older tokens expire at this time, or earlier if they would have.
  /// - Returns: false, without a write, if the session has no such token any more.
  func rotateWebAuthToken(
    withHash hash: [UInt8], successor: WebAuthToken?, olderExpire: Timestamp?
  ) async throws -> Bool
  /// Removes a user's web auth tokens of sessions in web apps.
  ///
  /// - Parameter everywhere: whether to remove the tokens of native clients too, and the user's
  ///   web courier readers and push subscriptions of browsers.
  /// - Returns: the number of removed sessions that had not expired. The token of a native client
  ///   counts as a session; readers and push subscriptions do not count.
  func endSessions(
    of userRecordName: String, everywhere: Bool, at timestamp: Timestamp
  ) async throws -> Int
}
