import JSONCoding

/// The metadata document of an issuer, which contains its URLs (OpenID Connect Discovery 1.0,
/// section 3).
struct IssuerMetadata: Sendable, Hashable {
  /// The URL at which a browser signs in.
  var authorizationEndpoint: String
  /// The URL at which a server exchanges a code for an ID token.
  var tokenEndpoint: String
  var keysURL: String
  /// Whether the token endpoint accepts the client's secret in the form. Otherwise the secret is
  /// sent in a header field.
  var takesSecretInForm: Bool

  /// Returns the URL of an issuer's document (OpenID Connect Discovery 1.0, section 4).
  static func url(ofIssuer issuer: String) -> String {
    (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer)
      + "/.well-known/openid-configuration"
  }

  private static func isSecret(_ url: String) -> Bool { url.lowercased().hasPrefix("https:") }

  /// Reads a document.
  ///
  /// - Parameter issuer: the issuer's identifier in the configuration. The document must contain
  ///   exactly this text (section 4.3).
  /// - Throws: ``OpenIDError/Code/badAnswer`` with the member that is missing or wrong. A URL
  ///   without TLS is wrong, unless the issuer's own URL is without TLS. Without this rule, a
  ///   remote issuer could make this server send requests to a port of the server's own machine.
  init(_ json: JSONValue, issuer: String) throws(OpenIDError) {
    guard json["issuer"]?.string == issuer else {
      throw OpenIDError(
        .badAnswer,
        "the discovery document of \(issuer) names the issuer '\(json["issuer"]?.string ?? "")'; "
          + "set 'issuer' to exactly the name in the document")
    }
    func url(_ member: String) throws(OpenIDError) -> String {
      guard let url = json[member]?.string, IssuerSettings.isSafe(url),
        Self.isSecret(url) || !Self.isSecret(issuer)
      else {
        throw OpenIDError(
          .badAnswer, "the discovery document of \(issuer) has no https URL in '\(member)'")
      }
      return url
    }
    authorizationEndpoint = try url("authorization_endpoint")
    tokenEndpoint = try url("token_endpoint")
    keysURL = try url("jwks_uri")
    // If the member is missing, the secret is sent in a header field (section 3).
    takesSecretInForm =
      json["token_endpoint_auth_methods_supported"]?.array?.contains("client_secret_post") ?? false
  }
}
