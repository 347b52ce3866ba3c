import JSONCoding

/// What an issuer says of itself (OpenID Connect Discovery 1.0, section 3).
struct IssuerMetadata: Sendable, Hashable {
  var authorizationEndpoint: String
  var tokenEndpoint: String
  var keysURL: String
  /// Whether the token endpoint takes the secret in the form; in a header otherwise.
  var takesSecretInForm: Bool

  /// Where an issuer's document lies (section 4).
  static func url(ofIssuer issuer: String) -> String {
    (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer)
      + "/.well-known/openid-configuration"
  }

  private static func isSecret(_ url: String) -> Bool { url.lowercased().hasPrefix("https:") }

  /// - Throws: `badAnswer` naming the member that is missing or wrong. An issuer that names itself
  ///   otherwise than it is configured is refused (section 4.3). One elsewhere cannot lead the server
  ///   to a port of its own machine, where it would be without TLS.
  init(_ json: JSONValue, issuer: String) throws(OpenIDError) {
    guard json["issuer"]?.string == issuer else {
      throw OpenIDError(
        .badAnswer,
        "the document of \(issuer) is that of '\(json["issuer"]?.string ?? "")'; configure the "
          + "issuer exactly as it names itself")
    }
    func url(_ member: String) throws(OpenIDError) -> String {
      guard let url = json[member]?.string, IssuerSettings.isSafe(url),
        Self.isSecret(url) || !Self.isSecret(issuer)
      else {
        throw OpenIDError(
          .badAnswer, "the document of \(issuer) has no safe URL as '\(member)'")
      }
      return url
    }
    authorizationEndpoint = try url("authorization_endpoint")
    tokenEndpoint = try url("token_endpoint")
    keysURL = try url("jwks_uri")
    // Without the member it is the header (section 3).
    takesSecretInForm =
      json["token_endpoint_auth_methods_supported"]?.array?.contains("client_secret_post") ?? false
  }
}
