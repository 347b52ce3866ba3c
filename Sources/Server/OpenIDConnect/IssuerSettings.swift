import Foundation

/// How a server is known to an OpenID Connect issuer.
public struct IssuerSettings: Sendable, Hashable {
  /// How the server shows the issuer's token endpoint that it is the client.
  public enum Credential: Sendable, Hashable {
    /// Not at all: a public client, whom PKCE alone protects.
    case none
    case secret(String)
    /// A web token that is signed for each use, as Apple asks for: the team's and the key's ten
    /// characters, and the key as PEM text.
    case signed(teamID: String, keyID: String, keyPEM: String)
  }

  /// How the issuer hands over the code.
  public enum ResponseMode: String, Sendable, Hashable, CaseIterable {
    /// In the query of a redirect.
    case query
    /// In a form that the browser posts. Apple asks for it when scopes are asked for.
    case formPost = "form_post"
  }

  /// The issuer's identifier, a URL, exactly as it stands in its ID tokens.
  public var issuer: String
  public var clientID: String
  public var credential: Credential
  /// `openid` is asked for always.
  public var scopes: [String]
  /// What stands on the button.
  public var label: String
  public var responseMode: ResponseMode

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

  /// Whether what is sent to a URL stays secret: with TLS, or within this machine.
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
