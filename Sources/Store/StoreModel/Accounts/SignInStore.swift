import CloudKitModel

/// Passwords, and the identities under which OpenID Connect issuers know users.
public protocol SignInStore: Sendable {
  /// Replaces the hash of a user's password and ends the user's sessions in web apps.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no user of this name.
  func setPasswordHash(
    _ hash: String, ofUserNamed name: String, at timestamp: Timestamp
  ) async throws
  /// Returns the hash of a user's password; nil if there is no such user or the user has no
  /// password.
  func passwordHash(ofUserNamed name: String) async throws -> String?
  /// Returns the user with this identity at an issuer. The first use of an identity creates the
  /// user.
  ///
  /// If another user has the e-mail address or phone number of the proposed profile, the new
  /// account is created without it. So a shared address never joins two users. If the proposed name
  /// is taken, the user record name replaces it.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the identity belongs to a user who is being
  ///   deleted.
  func user(
    boundTo identity: IssuedIdentity, proposing name: String, profile: UserProfile,
    at timestamp: Timestamp
  ) async throws -> User
}

/// The identity of a person at an OpenID Connect issuer. Only the issuer and the subject together
/// are unique and never reassigned (OpenID Connect Core, section 2).
public struct IssuedIdentity: Sendable, Hashable {
  /// The issuer's identifier: the `iss` claim of its ID tokens.
  public var issuer: String
  /// The issuer's name for the person: the `sub` claim.
  public var subject: String

  /// Creates an identity from the two claims of an ID token.
  public init(issuer: String, subject: String) {
    self.issuer = issuer
    self.subject = subject
  }
}
