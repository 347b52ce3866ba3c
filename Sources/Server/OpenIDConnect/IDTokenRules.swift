import CloudKitModel
import JSONCoding

/// What an ID token must say to be believed, once its signature is right (OpenID Connect Core 1.0,
/// section 3.1.3.7).
struct IDTokenRules: Sendable {
  /// Seconds by which clocks may differ.
  static let tolerance = 60.0
  /// Seconds; a token for this sign-in was made just now.
  static let oldest = 600.0

  var issuer: String
  var clientID: String
  var nonce: String

  /// Who signed in.
  ///
  /// - Throws: `invalidToken` naming the claim that is wrong.
  func identity(_ claims: JSONValue, at now: Timestamp) throws(OpenIDError) -> IssuerIdentity {
    func refuse(_ reason: String) -> OpenIDError {
      OpenIDError(.invalidToken, "the ID token \(reason)")
    }
    func quoted(_ claim: String) -> String { "'\((claims[claim]?.text ?? "").prefix(200))'" }
    guard claims["iss"]?.string == issuer else {
      throw refuse("is of the issuer \(quoted("iss")), not \(issuer)")
    }
    // What is no text counts as another audience.
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
    else { throw refuse("was not made just now, by its claim 'iat'") }
    if let start = claims["nbf"], start != .null {
      guard let seconds = start.double, seconds - Self.tolerance <= now.seconds else {
        throw refuse("is not good yet")
      }
    }
    guard claims["nonce"]?.string == nonce else { throw refuse("is for another sign-in") }
    guard let subject = claims["sub"]?.string, (1...255).contains(subject.utf8.count) else {
      throw refuse("has no subject of 1 to 255 bytes")
    }
    return IssuerIdentity(issuer: issuer, subject: subject, claims: claims)
  }
}
