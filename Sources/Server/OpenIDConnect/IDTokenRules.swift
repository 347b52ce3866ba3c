import CloudKitModel
import JSONCoding

/// The rules for the claims of an ID token (OpenID Connect Core 1.0, section 3.1.3.7). An ID token
/// is an issuer's signed statement about a user, and its claims are the members of a JSON object.
/// The caller has checked the signature before.
struct IDTokenRules: Sendable {
  /// The maximum difference in seconds between the clocks of this server and the issuer.
  static let tolerance = 60.0
  /// The maximum age of a token in seconds. A valid token is new, because the issuer creates it
  /// during the sign-in.
  static let oldest = 600.0

  /// The issuer's identifier, which the claim `iss` must equal.
  var issuer: String
  /// The client ID, which the claim `aud` must contain.
  var clientID: String
  /// The nonce of the sign-in, which the claim `nonce` must equal.
  var nonce: String

  /// Returns the identity. Throws ``OpenIDError/Code/invalidToken`` with the claim that breaks a
  /// rule.
  func identity(_ claims: JSONValue, at now: Timestamp) throws(OpenIDError) -> IssuerIdentity {
    func refuse(_ reason: String) -> OpenIDError {
      OpenIDError(.invalidToken, "the ID token \(reason)")
    }
    func quoted(_ claim: String) -> String { "'\((claims[claim]?.text ?? "").prefix(200))'" }
    guard claims["iss"]?.string == issuer else {
      throw refuse("comes from the issuer \(quoted("iss")), not from \(issuer)")
    }
    // An element of the list that is not a text counts as another client.
    let audience =
      claims["aud"]?.array?.map(\.string) ?? claims["aud"]?.string.map { [$0] } ?? []
    guard audience.contains(clientID) else {
      throw refuse("is for \(quoted("aud")), not for \(clientID)")
    }
    let isOurs = claims["azp"]?.string == clientID
    guard audience.count == 1 ? claims["azp"] == nil || isOurs : isOurs else {
      throw refuse("was made for the party \(quoted("azp")), not for \(clientID)")
    }
    guard let expires = claims["exp"]?.double, expires + Self.tolerance > now.seconds else {
      throw refuse("has expired")
    }
    guard let issued = claims["iat"]?.double, issued - Self.tolerance <= now.seconds,
      issued + Self.oldest + Self.tolerance > now.seconds
    else { throw refuse("is too old, or its claim 'iat' is missing or in the future") }
    if let start = claims["nbf"], start != .null {
      guard let seconds = start.double, seconds - Self.tolerance <= now.seconds else {
        throw refuse("is not valid yet")
      }
    }
    guard claims["nonce"]?.string == nonce else { throw refuse("is for another sign-in") }
    guard let subject = claims["sub"]?.string, (1...255).contains(subject.utf8.count) else {
      throw refuse("has no subject of 1 to 255 bytes")
    }
    return IssuerIdentity(issuer: issuer, subject: subject, claims: claims)
  }
}
