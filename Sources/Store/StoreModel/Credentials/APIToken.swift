import CloudKitModel

/// A token that names a web app to the server, as the store knows it: by its hash alone.
///
/// A container's environment asks for one as soon as one was registered for it.
public struct APIToken: Sendable, Hashable {
  /// How the sign-in page gives the web auth token to the app.
  public enum SignInCallback: Sendable, Hashable {
    /// A message to the window that opened the page.
    case postMessage
    /// A redirect to this URL with the query item `ckWebAuthToken`.
    case redirect(url: String)
  }

  /// SHA-256 of the token's text.
  public var hash: [UInt8]
  /// For people.
  public var name: String
  public var container: String
  public var environment: ContainerEnvironment
  public var signInCallback: SignInCallback
  /// Where pages that use the token may come from, such as `https://app.example.com`; empty when
  /// from anywhere.
  public var allowedOrigins: Set<String>
  public var created: Timestamp
  /// Since when the token is refused; nil when it is not.
  public var revoked: Timestamp?

  /// Names the token to people, for its text is kept nowhere: 16 hexadecimal digits of its hash.
  public var identifier: String {
    hash.prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  public init(
    hash: [UInt8], name: String, container: String, environment: ContainerEnvironment,
    signInCallback: SignInCallback = .postMessage, allowedOrigins: Set<String> = [],
    created: Timestamp, revoked: Timestamp? = nil
  ) {
    self.hash = hash
    self.name = name
    self.container = container
    self.environment = environment
    self.signInCallback = signInCallback
    self.allowedOrigins = allowedOrigins
    self.created = created
    self.revoked = revoked
  }
}
