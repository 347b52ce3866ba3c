import CloudKitModel
import Cryptography
import Foundation
import JSONCoding

/// The part of a request to an issuer's token endpoint that authenticates this server as the client
/// (OpenID Connect Core 1.0, section 9).
struct ClientCredential: Sendable {
  /// The lifetime in seconds of a signed credential. Each request gets a new one.
  static let signedLifetime = 300.0

  /// The additional fields of the form.
  var fields: [(String, String)] = []
  /// The value of the header field `Authorization`; nil for none.
  var authorization: String?

  /// Creates the credential for one request.
  ///
  /// - Parameter takesSecretInForm: whether the issuer accepts a secret in the form, not in a
  ///   header field only.
  init(
    _ settings: IssuerSettings, takesSecretInForm: Bool, at now: Timestamp
  ) throws(OpenIDError) {
    switch settings.credential {
    case .none:
      fields = [("client_id", settings.clientID)]
    case .secret(let secret) where takesSecretInForm:
      fields = [("client_id", settings.clientID), ("client_secret", secret)]
    case .secret(let secret):
      // Both parts are escaped before they are joined (RFC 6749, section 2.3.1).
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

  /// Returns the "client secret" that Apple requires: a JSON web token that the team's key signs
  /// with ES256.
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
