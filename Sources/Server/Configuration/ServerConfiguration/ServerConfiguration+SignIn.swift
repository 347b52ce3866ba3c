import Cryptography
import OpenIDConnect
import Settings

extension ServerConfiguration {
  /// The settings of the server's own sign-in page (`signIn`).
  public struct SignIn: Sendable, Hashable {
    /// Whether local accounts may sign in with their passwords.
    public var acceptsPasswords = true
    /// The OpenID Connect issuers: services at which users sign in. The operator chooses their
    /// names, which are parts of URLs of this server.
    public var issuers: [String: IssuerSettings] = [:]

    /// Creates the default settings: passwords, and no issuers.
    public init() {}

    static let settings = SettingTable(
      SignIn(),
      [
        .init(
          "passwords", \.acceptsPasswords, .boolean,
          "Whether local accounts sign in with their passwords."),
        .named(
          "issuers", \.issuers, IssuerSettings.settings, default: "none",
          complaint: { name in
            name.wholeMatch(of: /[a-z0-9-]{1,32}/) == nil
              ? "the name '\(name)' must be 1 to 32 lower-case letters, digits and hyphens" : nil
          },
          "OpenID Connect issuers by names of your own: lower-case letters, digits and hyphens."),
      ])
  }
}

extension IssuerSettings {
  fileprivate static let settings = SettingTable(
    IssuerSettings(issuer: "", clientID: "", credential: .none, label: ""),
    [
      .init(
        "issuer", \.issuer, .text, required: true,
        "The issuer's URL, exactly as in the issuer's discovery document."),
      .init(
        "clientID", \.clientID, .text, required: true, "The ID of this server at the issuer."),
      .part(
        "clientSecret", .secret, default: "a public client", "The secret of this server."),
      .part(
        "clientSecretFile", .file(.secret), "A file with the secret, instead of `clientSecret`."),
      .part(
        "teamID", .text, default: "needed with `keyFile`", "The ten characters of the team."),
      .part("keyID", .text, default: "needed with `keyFile`", "The ten characters of the key."),
      .part(
        "keyFile", .file(.secret),
        "A key to sign with, instead of a secret, as [Apple](authentication.md#sign-in-with-apple) asks."
      ),
      .init(
        "scopes", \.scopes, .texts, default: "`email`, `profile`; with a `keyFile` `name`, `email`",
        "The scopes that the server asks for besides `openid`."),
      .init("label", \.label, .text, required: true, "The text of the button."),
      .init(
        "responseMode", \.responseMode, .choice(ResponseMode.self),
        default: "`query`; with a `keyFile` `form_post`",
        "How the issuer sends the code: in the query of a redirect, or in a form."),
    ], rules: check)

  /// Checks an issuer's URL, reads the credential, and sets the defaults that depend on the
  /// credential.
  private static func check(
    _ reader: ConfigurationReader, _ settings: inout Self
  ) throws(ConfigurationError) {
    guard isSafe(settings.issuer), !settings.issuer.contains("?") else {
      throw reader.mistake("issuer", "'issuer' must be a URL that begins with https://")
    }
    settings.credential = try credential(reader)
    guard case .signed = settings.credential else { return }
    // A signed credential is for Apple, which knows only these scopes, and which returns the code
    // in a form if a request contains one of them.
    if !reader.has("scopes") { settings.scopes = ["name", "email"] }
    if !reader.has("responseMode") { settings.responseMode = .formPost }
  }

  /// Returns the credential: a secret, a key that signs secrets, or none for a public client.
  private static func credential(
    _ reader: ConfigurationReader
  ) throws(ConfigurationError) -> Credential {
    guard ["clientSecret", "clientSecretFile", "keyFile"].count(where: reader.has) <= 1 else {
      throw reader.mistake(
        nil, "only one of 'clientSecret', 'clientSecretFile' and 'keyFile' may be set")
    }
    if let secret = try reader.text("clientSecret", orIn: "clientSecretFile") {
      return .secret(secret.text)
    }
    guard let pem = try reader.contents("keyFile") else { return .none }
    do {
      _ = try ES256PrivateKey(pem: pem)
    } catch {
      throw reader.mistake("keyFile", "'keyFile' holds no usable key: \(error)")
    }
    return .signed(
      teamID: try reader.required("teamID"), keyID: try reader.required("keyID"), keyPEM: pem)
  }
}
