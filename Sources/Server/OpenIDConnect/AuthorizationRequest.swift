import Cryptography

/// A sign-in request that a browser carries to the issuer, with the values that must come back
/// (OpenID Connect Core 1.0, section 3.1.2.1). The verifier is that of PKCE (RFC 7636).
public struct AuthorizationRequest: Sendable, Hashable {
  /// The URL of this server to which the issuer sends the browser back.
  public var redirectURL: String
  /// A random text that the issuer returns with the code. It ties the answer to the browser's
  /// request.
  public var state: String
  /// A random text that the issuer puts into the ID token. It ties the token to this sign-in.
  public var nonce: String
  /// A random text of 43–128 characters. Only this server knows it until it exchanges the code. The
  /// issuer first gets a hash of it, so a stolen code is useless.
  public var verifier: String

  /// Creates a request from values that the caller has generated.
  public init(redirectURL: String, state: String, nonce: String, verifier: String) {
    self.redirectURL = redirectURL
    self.state = state
    self.nonce = nonce
    self.verifier = verifier
  }

  /// Returns the URL for the browser: the issuer's authorization endpoint with this request in its
  /// query.
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

  /// The hash of the verifier that the browser carries (RFC 7636, method `S256`).
  var challenge: String { Base64URL.encode(SHA256.hash(verifier.utf8)) }
}
