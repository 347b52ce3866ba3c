import Foundation

/// The operator's settings for one OpenID Connect issuer, a service at which users sign in. This
/// server is registered there as a client.
public struct IssuerSettings: Sendable, Hashable {
  /// The proof with which this server authenticates itself to the issuer's token endpoint.
  public enum Credential: Sendable, Hashable {
    /// No proof. The server is a public client, and only PKCE (RFC 7636) protects its sign-ins.
    case none
    /// A secret that the issuer has assigned.
    case secret(String)
    /// A JSON web token that the server signs for each request, as Apple requires. The team ID and
    /// the key ID have ten characters each. The key is the text of a PEM file.
    case signed(teamID: String, keyID: String, keyPEM: String)
  }

  /// The way in which the issuer returns the code, which this server exchanges for an ID token.
  public enum ResponseMode: String, Sendable, Hashable, CaseIterable {
    /// The issuer puts the code into the query of a redirection.
    case query
    /// The browser posts the code in a form. Apple requires this if the request contains scopes.
    case formPost = "form_post"
  }

  /// The issuer's identifier, a URL, exactly as it is written in its ID tokens.
  public var issuer: String
  /// The identifier of this server at the issuer.
  public var clientID: String
  /// The proof for the token endpoint.
  public var credential: Credential
  /// The scopes to request. The server adds `openid` to each request.
  public var scopes: [String]
  /// The text of the button on the sign-in page.
  public var label: String
  /// The way in which the issuer returns the code.
  public var responseMode: ResponseMode

  /// Creates settings without checking them.
  public init(
    issuer: String, clientID: String, credential: Credential, label: String,
    scopes: [String] = ["email", "profile"], responseMode: ResponseMode = .query
  ) {
    self.issuer = issuer
    self.clientID = clientID
    self.credential = credential
    self.label = label
    self.scopes = scopes
    self.responseMode = responseMode
  }

  /// Whether nobody else can read a request to a URL: the URL uses TLS, or its host is this
  /// machine. The result is false for an invalid URL and for a URL with a user name or a fragment.
  public static func isSafe(_ url: String) -> Bool {
    guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let components = URLComponents(string: url), let host = components.host,
      !host.isEmpty, components.user == nil, components.fragment == nil
    else { return false }
    switch components.scheme?.lowercased() {
    case "https": return true
    case "http": return ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host)
    default: return false
    }
  }
}
