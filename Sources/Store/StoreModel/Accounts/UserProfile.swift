import CloudKitModel
import Foundation

/// The data on a user besides the account's name: the e-mail address, the phone number and the
/// person's name.
public struct UserProfile: Sendable, Hashable {
  /// The normalized e-mail address; nil if there is none. Two spellings of one address have the
  /// same normalized text. No two users have the same address.
  public let emailAddress: String?
  /// The normalized phone number; nil if there is none. No two users have the same number.
  public let phoneNumber: String?
  /// The parts of the person's name; nil if all parts are missing.
  public let nameComponents: PersonNameComponents?

  /// Creates an empty profile.
  public init() {
    emailAddress = nil
    phoneNumber = nil
    nameComponents = nil
  }

  /// Creates a profile and normalizes the address and the number.
  ///
  /// - Throws: `ModelError` if the first text is not an e-mail address, or the second is not a
  ///   phone number.
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

  /// Restores a stored profile. The texts are already normalized and are not checked again.
  package init(stored emailAddress: String?, _ phoneNumber: String?, _ names: PersonNameComponents)
  {
    self.emailAddress = emailAddress
    self.phoneNumber = phoneNumber
    nameComponents = names == PersonNameComponents() ? nil : names
  }
}
