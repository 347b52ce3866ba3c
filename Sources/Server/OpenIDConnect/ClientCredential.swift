import CloudKitModel
import Cryptography
import Foundation
import JSONCoding

/// What a request to the token endpoint carries to show who sends it (OpenID Connect Core 1.0,
/// section 9).
struct ClientCredential: Sendable {
  /// Seconds that a signed credential is good for; it is made anew for each request.
  static let signedLifetime = 300.0

  /// Further fields of the form.
  var fields: [(String, String)] = []
  /// The header `Authorization`.
  var authorization: String?

  /// - Throws: `badCredential` when the key cannot be used.
  init(
    _ settings: IssuerSettings, takesSecretInForm: Bool, at now: Timestamp
  ) throws(OpenIDError) {
    switch settings.credential {
    case .none:
      fields = [("client_id", settings.clientID)]
    case .secret(let secret) where takesSecretInForm:
      fields = [("client_id", settings.clientID), ("client_secret", secret)]
    case .secret(let secret):
      // Both are escaped before they are put together (RFC 6749, section 2.3.1).
      let pair = FormText.escaped(settings.clientID) + ":" + FormText.escaped(secret)
      authorization = "Basic " + Data(pair.utf8).base64EncodedString()
    case .signed(let teamID, let keyID, let keyPEM):
      fields = [
        ("client_id", settings.clientID),
        (
          "client_secret",
          try Self.secret(
            teamID: teamID, keyID: keyID, keyPEM: keyPEM, settings: settings, at: now)
        ),
      ]
    }
  }

  /// Apple's "client secret": a web token that the team signs.
  private static func secret(
    teamID: String, keyID: String, keyPEM: String, settings: IssuerSettings, at now: Timestamp
  ) throws(OpenIDError) -> String {
    let issued = Int64(now.seconds)
    let header: JSONValue = ["alg": "ES256", "kid": .string(keyID)]
    let claims: JSONValue = [
      "iss": .string(teamID), "iat": .int(issued), "exp": .int(issued + Int64(signedLifetime)),
      "aud": .string(settings.issuer), "sub": .string(settings.clientID),
    ]
    let text =
      Base64URL.encode(header.text.utf8) + "." + Base64URL.encode(claims.text.utf8)
    do {
      let signature = try ES256PrivateKey(pem: keyPEM).signature(for: text.utf8)
      return text + "." + Base64URL.encode(signature.raw)
    } catch {
      throw OpenIDError(
        .badCredential, "the key \(keyID) for \(settings.issuer) cannot be used: \(error)")
    }
  }
}
