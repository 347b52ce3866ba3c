import Foundation

/// The identity of a user: record name, name, and the address by which the user was looked up.
public struct UserIdentity: Sendable, Hashable {
  /// The record name that replaces a deleted user in the stamps of public records. The name is the
  /// same for all deleted users, and no user has it.
  public static let deletedUserRecordName = "__deletedUser__"

  /// The record name of the user; nil for a person without an account on this server.
  public var userRecordName: String?
  /// The name of the user; nil when it is unknown.
  public var nameComponents: PersonNameComponents?
  /// The address or name by which the user was found, or by which the user is to be invited.
  public var lookup: UserLookup?

  /// Creates an identity.
  public init(
    userRecordName: String? = nil, nameComponents: PersonNameComponents? = nil,
    lookup: UserLookup? = nil
  ) {
    self.userRecordName = userRecordName
    self.nameComponents = nameComponents
    self.lookup = lookup
  }
}

/// The address or name by which a user is looked up. One of the three properties is enough.
public struct UserLookup: Sendable, Hashable {
  /// The e-mail address of the user.
  public var emailAddress: String?
  /// The phone number of the user.
  public var phoneNumber: String?
  /// The record name of the user.
  public var userRecordName: String?

  /// Creates a lookup.
  public init(
    emailAddress: String? = nil, phoneNumber: String? = nil, userRecordName: String? = nil
  ) {
    self.emailAddress = emailAddress
    self.phoneNumber = phoneNumber
    self.userRecordName = userRecordName
  }

  /// Returns the e-mail address in lower case, without white space around it. The server stores and
  /// compares addresses this way.
  ///
  /// The function accepts one `@` with text on both sides, no white space, and at most 254 bytes
  /// (RFC 5321, section 4.5.3.1).
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Code/invalidName`` for any other text.
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

  /// Returns the phone number as digits, with a `+` in front where the number has one. The server
  /// stores and compares numbers this way.
  ///
  /// The function removes spaces, hyphens, dots, slashes and parentheses.
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Code/invalidName`` for other characters, and for
  ///   fewer than 3 or more than 15 digits. E.164 allows at most 15.
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
