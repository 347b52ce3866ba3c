import CloudKitModel
import Foundation

/// An account of this server.
///
/// `name` identifies the user to people and in commands. `userRecordName` identifies the user in
/// the protocol and in the store; it is the same in all containers and never changes.
public struct User: Sendable, Hashable {
  /// The account's name, which is unique in the store. The user signs in with it.
  public var name: String
  /// The user record name: `_` and 32 hexadecimal digits in lower case.
  public var userRecordName: String
  /// The time of the account's creation.
  public var created: Timestamp
  /// The user's names and addresses.
  public var profile: UserProfile
  /// Whether the account and all data of the user are being deleted: see ``UserDeletion``.
  public var isBeingDeleted = false

  /// Creates a value that describes an account. Only `AccountService.addUser(named:profile:at:)`
  /// creates an account in the store.
  public init(
    name: String, userRecordName: String, created: Timestamp, profile: UserProfile = UserProfile()
  ) {
    self.name = name
    self.userRecordName = userRecordName
    self.created = created
    self.profile = profile
  }
}

/// The e-mail address, the phone number and the person's name of a user.
public struct UserProfile: Sendable, Hashable {
  /// The normalized e-mail address, which is the same for all spellings of an address. No two
  /// users have the same.
  public let emailAddress: String?
  /// The normalized phone number. No two users have the same.
  public let phoneNumber: String?
  /// The parts of the person's name.
  public let nameComponents: PersonNameComponents?

  /// Creates an empty profile.
  public init() {
    emailAddress = nil
    phoneNumber = nil
    nameComponents = nil
  }

  /// Creates a profile and normalizes the address and the number.
  ///
  /// - Throws: `ModelError` if one of them is not valid.
  public init(
    emailAddress: String?, phoneNumber: String?, nameComponents: PersonNameComponents?
  ) throws(ModelError) {
    var canonicalEmail: String?
    if let emailAddress { canonicalEmail = try UserLookup.canonicalEmailAddress(emailAddress) }
    var canonicalPhone: String?
    if let phoneNumber { canonicalPhone = try UserLookup.canonicalPhoneNumber(phoneNumber) }
    self.emailAddress = canonicalEmail
    self.phoneNumber = canonicalPhone
    self.nameComponents = nameComponents == PersonNameComponents() ? nil : nameComponents
  }

  /// The texts are already normalized and are not checked again.
  package init(stored emailAddress: String?, _ phoneNumber: String?, _ names: PersonNameComponents)
  {
    self.emailAddress = emailAddress
    self.phoneNumber = phoneNumber
    nameComponents = names == PersonNameComponents() ? nil : names
  }
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
