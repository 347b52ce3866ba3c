import JSONCoding

/// The identity of a signed-in user, as the issuer describes it in the ID token (OpenID Connect
/// Core 1.0, section 5.1). The issuer is the OpenID Connect service at which the user signed in.
public struct IssuerIdentity: Sendable, Hashable {
  /// The maximum number of characters of a name and of the email address. Longer ones are cut.
  private static let nameLimit = 255

  /// The issuer's identifier.
  public var issuer: String
  /// The issuer's identifier of the user, which the issuer never gives to another user.
  public var subject: String
  /// The user's email address; nil unless the issuer states that it has verified the address.
  public var emailAddress: String?
  /// The claim `given_name`; nil if it is missing or empty.
  public var givenName: String?
  /// The claim `middle_name`; nil if it is missing or empty.
  public var middleName: String?
  /// The claim `family_name`; nil if it is missing or empty.
  public var familyName: String?
  /// The claim `nickname`; nil if it is missing or empty.
  public var nickname: String?

  /// Reads the identity from the claims, the JSON members, of a checked ID token.
  init(issuer: String, subject: String, claims: JSONValue) {
    self.issuer = issuer
    self.subject = subject
    func name(_ claim: String) -> String? {
      claims[claim]?.string.flatMap { $0.isEmpty ? nil : String($0.prefix(Self.nameLimit)) }
    }
    // Apple writes this Boolean as a string.
    if claims["email_verified"] == .bool(true) || claims["email_verified"] == "true" {
      emailAddress = name("email")
    }
    givenName = name("given_name")
    middleName = name("middle_name")
    familyName = name("family_name")
    nickname = name("nickname")
  }

  /// Adds the names that Apple sends together with the code. Apple sends them only at the first
  /// sign-in of a user. Apple does not sign them, so a name from the ID token is kept.
  ///
  /// - Parameter json: the member `user` of Apple's form, parsed.
  public mutating func addNames(fromApple json: JSONValue) {
    func name(_ member: String) -> String? {
      json["name"]?[member]?.string.flatMap {
        $0.isEmpty ? nil : String($0.prefix(Self.nameLimit))
      }
    }
    givenName = givenName ?? name("firstName")
    middleName = middleName ?? name("middleName")
    familyName = familyName ?? name("lastName")
  }
}
