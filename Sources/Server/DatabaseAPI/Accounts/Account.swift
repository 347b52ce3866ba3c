import CloudKitModel
import Cryptography
import Foundation
import Settings
import StoreModel

/// Making of users and their tokens.
public enum Account {
  /// How long a web auth token of a user who stays signed in lives, in seconds: two weeks.
  public static let tokenLifetime = 14 * 86_400.0
  /// How long a web auth token of a user who does not stay signed in lives, in seconds: 30 minutes.
  public static let sessionTokenLifetime = 1800.0

  /// Bytes that a password may have.
  public static let passwordSizes = 8...1024

  /// Gives a user a password in place of an earlier one, keeps its hash, and ends the user's sessions
  /// in web apps.
  ///
  /// The tokens of native clients stay good. Hashing takes tens of milliseconds and 64 MiB, on a
  /// thread of its own.
  ///
  /// - Throws: `ConfigurationError` for a password that is too short or too long, `StoreError` when
  ///   there is no such user.
  public static func setPassword(
    _ password: String, ofUserNamed name: String, in store: any SignInStore, at now: Timestamp
  ) async throws {
    try checkPassword(password)
    let hash = try await PasswordHasher().hash(password)
    try await store.setPasswordHash(hash, ofUserNamed: name, at: now)
  }

  /// Ends a user's sessions in web apps: their web auth tokens are refused from now on, by a server
  /// that runs within ``WebAuthTokens/trust`` seconds.
  ///
  /// - Parameter everywhere: whether the tokens of native clients and those of the web courier's
  ///   readers go too; otherwise the readers end by themselves, within twelve hours.
  /// - Returns: how many sessions it were; a native client's token counts as one.
  /// - Throws: `StoreError` when there is no such user.
  public static func signOut(
    userNamed name: String, everywhere: Bool, in store: any AccountReading & SessionStore,
    at now: Timestamp
  ) async throws -> Int {
    let user = try await user(named: name, in: store)
    return try await store.endSessions(
      of: user.userRecordName, everywhere: everywhere, at: now)
  }

  /// - Throws: `StoreError` when there is no such user.
  public static func user(named name: String, in store: any AccountReading) async throws -> User {
    guard let user = try await store.user(named: name) else { throw StoreError.noUser(named: name) }
    return user
  }

  /// - Throws: `ConfigurationError` for a password that is too short or too long.
  public static func checkPassword(_ password: String) throws(ConfigurationError) {
    guard passwordSizes.contains(password.utf8.count) else {
      throw ConfigurationError(
        "a password has \(passwordSizes.lowerBound) to \(passwordSizes.upperBound) bytes, "
          + "not \(password.utf8.count)")
    }
  }

  /// Makes the constant web auth token of a native client and keeps its hash. It is good for all
  /// containers, and needs no API token beside it.
  ///
  /// - Parameter lifetime: seconds.
  /// - Returns: the token's text, which is kept nowhere.
  public static func makeToken(
    for user: User, in store: any SessionStore, lifetime: Double = tokenLifetime, at now: Timestamp
  ) async throws -> String {
    let token = newToken()
    try await addToken(token, for: user, in: store, lifetime: lifetime, at: now)
    return token
  }

  /// Makes the first web auth token of a session in a web app, as a sign-in page gives it, and keeps
  /// its hash. It is good for one container's environment, beside an API token where one is asked
  /// for, and is followed by others while it is used.
  ///
  /// - Parameter staysSignedIn: whether each of the session's tokens lives two weeks instead of 30
  ///   minutes.
  /// - Returns: the token's text, which is kept nowhere.
  public static func makeSessionToken(
    for user: User, container: String, environment: ContainerEnvironment, staysSignedIn: Bool,
    in store: any SessionStore, at now: Timestamp
  ) async throws -> String {
    let text = newToken()
    let lifetime = staysSignedIn ? tokenLifetime : sessionTokenLifetime
    try await store.addWebAuthToken(
      WebAuthToken(
        hash: Authenticator.hash(of: text), userRecordName: user.userRecordName, created: now,
        expires: now.advanced(bySeconds: lifetime),
        session: WebAuthToken.Session(
          id: SecureRandom.bytes(count: 16), container: container, environment: environment,
          lifetime: lifetime)))
    return text
  }

  /// 64 characters, `+` and `/` among them, as Apple's service makes them.
  static func newToken() -> String {
    Data(SecureRandom.bytes(count: 48)).base64EncodedString()
  }

  /// Makes a text the web auth token of a user, and keeps its hash.
  ///
  /// - Parameter lifetime: seconds.
  package static func addToken(
    _ token: String, for user: User, in store: any SessionStore, lifetime: Double,
    at now: Timestamp
  ) async throws {
    try await store.addWebAuthToken(
      WebAuthToken(
        hash: Authenticator.hash(of: token), userRecordName: user.userRecordName, created: now,
        expires: now.advanced(bySeconds: lifetime)))
  }
}
