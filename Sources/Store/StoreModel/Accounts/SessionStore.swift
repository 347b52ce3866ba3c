import CloudKitModel

/// The web auth tokens of users: those of sessions in web apps, and those of native clients.
public protocol SessionStore: Sendable {
  func addWebAuthToken(_ token: WebAuthToken) async throws
  func webAuthToken(withHash hash: [UInt8]) async throws -> WebAuthToken?
  /// Notes what a request with a session's token leads to, in one write.
  ///
  /// - Parameters:
  ///   - successor: a token that is added to the session.
  ///   - olderExpire: not nil when this is the first request with the token, which is then marked
  ///     as used: when the session's older tokens expire, unless they do so before.
  /// - Returns: false, and nothing is done, when there is no such token of a session any more.
  func rotateWebAuthToken(
    withHash hash: [UInt8], successor: WebAuthToken?, olderExpire: Timestamp?
  ) async throws -> Bool
  /// Takes away a user's web auth tokens: those of sessions in web apps, or all of them and those of
  /// the web courier's readers.
  ///
  /// - Returns: how many sessions it were that had not expired; a native client's token counts as
  ///   one.
  func endSessions(
    of userRecordName: String, everywhere: Bool, at timestamp: Timestamp
  ) async throws -> Int
}
