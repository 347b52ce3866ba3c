import CloudKitModel

/// What the store knows of the ways in which users sign in.
public protocol SignInStore: Sendable {
  /// Gives a user a password, by its hash, in place of an earlier one, and ends the user's sessions
  /// in web apps.
  ///
  /// - Throws: ``StoreError/Code/notFound`` when there is no user of this name.
  func setPasswordHash(
    _ hash: String, ofUserNamed name: String, at timestamp: Timestamp
  ) async throws
  /// The hash of a user's password; nil when there is no such user, or the user has none.
  func passwordHash(ofUserNamed name: String) async throws -> String?
  /// The user whom an issuer knows by this identity, who is made on first use.
  ///
  /// An e-mail address or phone number of the proposed profile that another user has is left out:
  /// it does not make the two one. When the proposed name is taken, the user record name stands in
  /// for it.
  func user(
    boundTo identity: IssuedIdentity, proposing name: String, profile: UserProfile,
    at timestamp: Timestamp
  ) async throws -> User
}

/// Someone as an OpenID Connect issuer knows them (OpenID Connect Core, section 2: only the issuer
/// and the subject together are unique and never given to another).
public struct IssuedIdentity: Sendable, Hashable {
  public var issuer: String
  public var subject: String

  public init(issuer: String, subject: String) {
    self.issuer = issuer
    self.subject = subject
  }
}
