import CloudKitModel
import Cryptography
import Foundation
import Storage

/// Making of users and their tokens.
public enum Account {
  /// How long a web auth token of a user who stays signed in lives, in seconds: two weeks.
  public static let tokenLifetime = 14 * 86_400.0

  /// Makes a web auth token for a user and keeps its hash.
  ///
  /// - Parameter lifetime: seconds.
  /// - Returns: the token's text, which is kept nowhere.
  public static func makeToken(
    for user: User, in store: any RecordStore, lifetime: Double = tokenLifetime, at now: Timestamp
  ) async throws -> String {
    let token = Data(SecureRandom.bytes(count: 48)).base64EncodedString()
    try await addToken(token, for: user, in: store, lifetime: lifetime, at: now)
    return token
  }

  /// Makes a text the web auth token of a user, and keeps its hash.
  ///
  /// - Parameter lifetime: seconds.
  package static func addToken(
    _ token: String, for user: User, in store: any RecordStore, lifetime: Double,
    at now: Timestamp
  ) async throws {
    try await store.addWebAuthToken(
      WebAuthToken(
        hash: Authenticator.hash(of: token), userRecordName: user.userRecordName, created: now,
        expires: now.advanced(bySeconds: lifetime)))
  }
}
