import CloudKitModel

/// Passwords, and the identities under which OpenID Connect issuers know users.
public protocol SignInStore: Sendable {
  /// Replaces the hash of a user's password and ends the user's sessions in web apps.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no user of this name.
  func setPasswordHash(
    _ hash: String, ofUserNamed name: String, at timestamp: Timestamp
  ) async throws
  /// The hash of a user's password; nil if there is no such user or the user has no password.
  func passwordHash(ofUserNamed name: String) async throws -> String?
  /// The user with this identity at an issuer. The first use of an identity creates the user.
  ///
  /// An e-mail address or phone number of the proposed profile that another user has is left out:
  /// it does not join the two users. If the proposed name is taken, the user record name replaces
  /// it.
  func user(
    boundTo identity: IssuedIdentity, proposing name: String, profile: UserProfile,
    at timestamp: Timestamp
  ) async throws -> User
}

/// The identity of a person at an OpenID Connect issuer. Only the issuer and the subject together
/// are unique and never reassigned (OpenID Connect Core, section 2).
public struct IssuedIdentity: Sendable, Hashable {
  public var issuer: String
  public var subject: String

  public init(issuer: String, subject: String) {
    self.issuer = issuer
    self.subject = subject
  }
}
