import Foundation

/// What is known of a user: who it is, what the user is called, and how the user was looked up.
public struct UserIdentity: Sendable, Hashable {
  /// Stands in the stamps of public records for users that were deleted. It names no user, and is one and
  /// the same for all of them.
  public static let deletedUserRecordName = "__deletedUser__"

  /// Nil for someone without an account here.
  public var userRecordName: String?
  public var nameComponents: PersonNameComponents?
  /// How the user was found or is to be invited.
  public var lookup: UserLookup?

  public init(
    userRecordName: String? = nil, nameComponents: PersonNameComponents? = nil,
    lookup: UserLookup? = nil
  ) {
    self.userRecordName = userRecordName
    self.nameComponents = nameComponents
    self.lookup = lookup
  }
}

/// What a user is looked up by: one of the three is enough.
public struct UserLookup: Sendable, Hashable {
  public var emailAddress: String?
  public var phoneNumber: String?
  public var userRecordName: String?

  public init(
    emailAddress: String? = nil, phoneNumber: String? = nil, userRecordName: String? = nil
  ) {
    self.emailAddress = emailAddress
    self.phoneNumber = phoneNumber
    self.userRecordName = userRecordName
  }

  /// The form in which e-mail addresses are kept and compared: in lower case, without white space
  /// around them.
  ///
  /// - Throws: when it is no address: one `@` with something on either side, no white space, at
  ///   most 254 bytes (RFC 5321, section 4.5.3.1).
  public static func canonicalEmailAddress(_ address: String) throws(ModelError) -> String {
    let canonical = address.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
    let parts = canonical.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), canonical.utf8.count <= 254,
      !canonical.contains(where: \.isWhitespace)
    else {
      throw ModelError(
        .invalidName, field: "emailAddress", "'\(address)' is not an e-mail address")
    }
    return canonical
  }

  /// The form in which phone numbers are kept and compared: digits, perhaps after a `+`. Spaces,
  /// hyphens, dots, slashes and parentheses are left out.
  ///
  /// - Throws: when something else is in it, or there are not 3 to 15 digits (E.164 allows 15).
  public static func canonicalPhoneNumber(_ number: String) throws(ModelError) -> String {
    let separators: Set<Character> = [" ", "\u{A0}", "-", ".", "/", "(", ")"]
    let canonical = String(number.filter { !separators.contains($0) })
    let digits = canonical.hasPrefix("+") ? canonical.dropFirst() : canonical[...]
    guard (3...15).contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
      throw ModelError(.invalidName, field: "phoneNumber", "'\(number)' is not a phone number")
    }
    return canonical
  }
}
