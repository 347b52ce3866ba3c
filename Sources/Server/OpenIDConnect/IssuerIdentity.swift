import JSONCoding

/// Who signed in, as an issuer tells it (OpenID Connect Core 1.0, section 5.1).
public struct IssuerIdentity: Sendable, Hashable {
  /// Characters of a name that are taken over.
  private static let nameLimit = 255

  public var issuer: String
  /// Never given to anyone else by this issuer.
  public var subject: String
  /// Only an address that the issuer has verified.
  public var emailAddress: String?
  public var givenName: String?
  public var middleName: String?
  public var familyName: String?
  public var nickname: String?

  init(issuer: String, subject: String, claims: JSONValue) {
    self.issuer = issuer
    self.subject = subject
    func name(_ claim: String) -> String? {
      claims[claim]?.string.flatMap { $0.isEmpty ? nil : String($0.prefix(Self.nameLimit)) }
    }
    // Apple writes the boolean as a string.
    if claims["email_verified"] == .bool(true) || claims["email_verified"] == "true" {
      emailAddress = name("email")
    }
    givenName = name("given_name")
    middleName = name("middle_name")
    familyName = name("family_name")
    nickname = name("nickname")
  }

  /// Takes names that the issuer does not sign: Apple gives them beside the code, at the first
  /// sign-in alone. Names of the ID token stay.
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
