import Cryptography

/// Where the browser is sent to sign in, and what must come back (OpenID Connect Core 1.0, section
/// 3.1.2.1; PKCE is RFC 7636).
public struct AuthorizationRequest: Sendable, Hashable {
  /// Where the issuer sends the browser back to.
  public var redirectURL: String
  /// Comes back with the code.
  public var state: String
  /// Comes back in the ID token.
  public var nonce: String
  /// Known to the server alone until it asks for the token: 43 to 128 characters.
  public var verifier: String

  public init(redirectURL: String, state: String, nonce: String, verifier: String) {
    self.redirectURL = redirectURL
    self.state = state
    self.nonce = nonce
    self.verifier = verifier
  }

  func url(at endpoint: String, _ settings: IssuerSettings) -> String {
    var fields = [
      ("response_type", "code"), ("client_id", settings.clientID), ("redirect_uri", redirectURL),
      ("scope", (["openid"] + settings.scopes.filter { $0 != "openid" }).joined(separator: " ")),
      ("state", state), ("nonce", nonce), ("code_challenge", challenge),
      ("code_challenge_method", "S256"),
    ]
    if settings.responseMode != .query {
      fields.append(("response_mode", settings.responseMode.rawValue))
    }
    return endpoint + (endpoint.contains("?") ? "&" : "?") + FormText.encode(fields)
  }

  var challenge: String { Base64URL.encode(SHA256.hash(verifier.utf8)) }
}
