import CloudKitModel
import Cryptography
import Foundation
import Settings
import Storage
import StoreModel

/// The creation of users' passwords and web auth tokens, for the commands and the sign-in page.
public enum Account {
  /// The lifetime in seconds of a web auth token of a user who stays signed in: two weeks, as in
  /// Apple's service.
  public static let tokenLifetime = 14 * 86_400.0
  /// The lifetime in seconds of a web auth token of a user who does not stay signed in: 30 minutes,
  /// as in Apple's service.
  public static let sessionTokenLifetime = 1800.0

  /// The smallest and the largest size of a password in bytes of UTF-8.
  public static let passwordSizes = 8...1024

  /// Sets a user's password and ends the user's sessions in web apps.
  ///
  /// The store keeps a hash of the password. Hashing takes tens of milliseconds and 64 MiB, on a
  /// thread of its own. The tokens of native clients stay valid.
  ///
  /// - Throws: `ConfigurationError` for a password that is too short or too long; `StoreError` if
  ///   there is no such user.
  public static func setPassword(
    _ password: String, ofUserNamed name: String, in store: AccountService, at now: Timestamp
  ) async throws {
    try checkPassword(password)
    let hash = try await PasswordHasher().hash(password)
    try await store.setPasswordHash(hash, ofUserNamed: name, at: now)
  }

  /// Ends a user's sessions in web apps. A running server refuses the web auth tokens of these
  /// sessions after ``WebAuthTokens/trust`` seconds at the latest.
  ///
  /// The devices, browsers and web courier readers that were registered in these sessions get no more
  /// notifications.
  ///
  /// - Parameter everywhere: whether to remove also the tokens of native clients, and all of the user's
  ///   devices, browsers and web courier readers.
  /// - Returns: the number of sessions that ended and had not expired. A removed token of a native
  ///   client counts as a session; a device does not count.
  /// - Throws: `StoreError` if there is no such user.
  public static func signOut(
    userNamed name: String, everywhere: Bool, in store: AccountService,
    at now: Timestamp
  ) async throws -> Int {
    let user = try await user(named: name, in: store)
    return try await store.endSessions(
      of: user.userRecordName, everywhere: everywhere, at: now)
  }

  /// Looks up a user by name.
  ///
  /// - Throws: `StoreError` if there is no such user.
  public static func user(named name: String, in store: AccountService) async throws -> User {
    guard let user = try await store.user(named: name) else { throw StoreError.noUser(named: name) }
    return user
  }

  /// Checks the size of a password against ``passwordSizes``.
  ///
  /// - Throws: `ConfigurationError` for a password that is too short or too long.
  public static func checkPassword(_ password: String) throws(ConfigurationError) {
    guard passwordSizes.contains(password.utf8.count) else {
      throw ConfigurationError(
        "a password has \(passwordSizes.lowerBound) to \(passwordSizes.upperBound) bytes, "
          + "not \(password.utf8.count)")
    }
  }

  /// Creates the web auth token of a native client, which no other token replaces.
  ///
  /// The token is valid for all containers, and needs no API token beside it. The store keeps only
  /// its hash.
  ///
  /// - Parameter lifetime: seconds until the token expires.
  /// - Returns: the token's text, which is stored nowhere.
  public static func makeToken(
    for user: User, in store: AccountService, lifetime: Double = tokenLifetime, at now: Timestamp
  ) async throws -> String {
    let token = newToken()
    try await addToken(token, for: user, in: store, lifetime: lifetime, at: now)
    return token
  }

  /// Creates the first web auth token of a session in a web app, for the sign-in page.
  ///
  /// The token is valid for one container's environment, together with an API token if the
  /// container requires one. While the session is used, newer tokens follow: see
  /// ``SessionRotation``. The store keeps only its hash.
  ///
  /// - Parameter staysSignedIn: whether each token of the session lives two weeks instead of 30
  ///   minutes.
  /// - Returns: the token's text, which is stored nowhere.
  public static func makeSessionToken(
    for user: User, container: String, environment: ContainerEnvironment, staysSignedIn: Bool,
    in store: AccountService, at now: Timestamp
  ) async throws -> String {
    let text = newToken()
    let lifetime = lifetime(staysSignedIn: staysSignedIn)
    try await store.addWebAuthToken(
      WebAuthToken(
        hash: Authenticator.hash(of: text), userRecordName: user.userRecordName, created: now,
        expires: now.advanced(bySeconds: lifetime),
        session: WebAuthToken.Session(
          id: SecureRandom.bytes(count: 16), container: container, environment: environment,
          lifetime: lifetime)))
    return text
  }

  static func lifetime(staysSignedIn: Bool) -> Double {
    staysSignedIn ? tokenLifetime : sessionTokenLifetime
  }

  /// Returns a new random token: 64 characters of base64, which may be `+` and `/` too, as in
  /// Apple's service.
  static func newToken() -> String {
    Data(SecureRandom.bytes(count: 48)).base64EncodedString()
  }

  /// Adds a web auth token with a given text for a user, of the kind that native clients have. The
  /// store keeps only the hash of the text.
  ///
  /// - Parameter lifetime: seconds until the token expires.
  package static func addToken(
    _ token: String, for user: User, in store: AccountService, lifetime: Double,
    at now: Timestamp
  ) async throws {
    try await store.addWebAuthToken(
      WebAuthToken(
        hash: Authenticator.hash(of: token), userRecordName: user.userRecordName, created: now,
        expires: now.advanced(bySeconds: lifetime)))
  }
}
