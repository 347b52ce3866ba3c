import Cryptography

/// A sign-in request that a browser carries to the issuer, the OpenID Connect service at which the
/// user signs in (OpenID Connect Core 1.0, section 3.1.2.1). The issuer's answer contains a code,
/// which this server exchanges for an ID token: a signed statement about the user.
public struct AuthorizationRequest: Sendable, Hashable {
  /// The URL of this server to which the issuer sends the browser back.
  public var redirectURL: String
  /// A random text that the issuer returns with the code. It shows that the answer belongs to this
  /// request.
  public var state: String
  /// A random text that the issuer puts into the ID token. It shows that the token belongs to this
  /// sign-in.
  public var nonce: String
  /// The verifier of PKCE (RFC 7636), a random text of 43–128 characters. The issuer first gets
  /// only a hash of the verifier. This server sends the verifier itself when it exchanges the code,
  /// so a stolen code is useless without the verifier.
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

  /// The SHA-256 hash of the verifier in Base64URL, which the browser carries to the issuer (RFC
  /// 7636, method `S256`).
  var challenge: String { Base64URL.encode(SHA256.hash(verifier.utf8)) }
}
