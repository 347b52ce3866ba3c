import CloudKitModel
import Foundation

/// What the administrator wrote down of a user besides the account's name.
public struct UserProfile: Sendable, Hashable {
  /// In the form that addresses are compared in; no two users have the same.
  public let emailAddress: String?
  /// In the form that numbers are compared in; no two users have the same.
  public let phoneNumber: String?
  public let nameComponents: PersonNameComponents?

  /// The profile of a user of whom nothing is known.
  public init() {
    emailAddress = nil
    phoneNumber = nil
    nameComponents = nil
  }

  /// - Throws: for what is no e-mail address or no phone number.
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

  /// A profile as it was stored.
  package init(stored emailAddress: String?, _ phoneNumber: String?, _ names: PersonNameComponents)
  {
    self.emailAddress = emailAddress
    self.phoneNumber = phoneNumber
    nameComponents = names == PersonNameComponents() ? nil : names
  }
}
