import CloudKitModel

/// The passwords of users, and the identities of users at OpenID Connect issuers.
public protocol SignInStore: Sendable {
  /// Replaces the hash of a user's password, and ends the user's sessions in web apps, in one
  /// transaction.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no user of this name;
  ///   ``StoreError/Code/userDeleted`` if the user is being deleted.
  func setPasswordHash(
    _ hash: String, ofUserNamed name: String, at timestamp: Timestamp
  ) async throws
  /// Returns the hash of a user's password; nil if there is no such user or the user has no
  /// password.
  func passwordHash(ofUserNamed name: String) async throws -> String?
  /// Returns the user with this identity at an issuer. The first call with an identity creates the
  /// user.
  ///
  /// If another user already has the profile's e-mail address or phone number, the new account has
  /// none. So two people with the same address never get the same account. If another user already
  /// has the proposed name, the new account's name is its user record name.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the identity belongs to a user who is being
  ///   deleted or was deleted recently.
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
