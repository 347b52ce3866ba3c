import CloudKitModel
import Foundation

/// The administrator's data on a user besides the account's name.
public struct UserProfile: Sendable, Hashable {
  /// Normalized for comparison; no two users have the same address.
  public let emailAddress: String?
  /// Normalized for comparison; no two users have the same number.
  public let phoneNumber: String?
  public let nameComponents: PersonNameComponents?

  /// An empty profile.
  public init() {
    emailAddress = nil
    phoneNumber = nil
    nameComponents = nil
  }

  /// - Throws: if a text is not an e-mail address or not a phone number.
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

  /// Restores a stored profile.
  package init(stored emailAddress: String?, _ phoneNumber: String?, _ names: PersonNameComponents)
  {
    self.emailAddress = emailAddress
    self.phoneNumber = phoneNumber
    nameComponents = names == PersonNameComponents() ? nil : names
  }
}
