import CloudKitModel

/// A token that identifies a web app (`ckAPIToken`), of which the store has only the hash.
///
/// After the registration of the first token for a container's environment, requests for it need a
/// token.
public struct APIToken: Sendable, Hashable {
  /// The way in which the sign-in page gives the web auth token to the app.
  public enum SignInCallback: Sendable, Hashable {
    case postMessage
    /// With the query item `ckWebAuthToken`.
    case redirect(url: String)
  }

  /// SHA-256 of the token's text.
  public var hash: [UInt8]
  /// A name for people.
  public var name: String
  /// The container for whose requests the token is valid.
  public var container: String
  /// The environment of the container.
  public var environment: ContainerEnvironment
  /// The way in which the sign-in page gives the web auth token to the app.
  public var signInCallback: SignInCallback
  /// The origins of pages that may use the token, such as `https://app.example.com`; empty for any
  /// origin.
  public var allowedOrigins: Set<String>
  /// The time of the token's creation.
  public var created: Timestamp
  /// The time at which the token was revoked; nil for a valid token.
  public var revoked: Timestamp?

  /// The token's name for people: the first 16 hexadecimal digits of its hash.
  public var identifier: String { hash.prefix(8).hexadecimal }

  /// Creates a token from the SHA-256 hash of its text. The defaults permit any origin.
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

/// A server-to-server key, with whose private half a program signs its requests instead of signing
/// in. The store has only the public half.
public struct ServerKey: Sendable, Hashable {
  /// The key's ID: 64 hexadecimal digits. Each signed request contains the ID.
  public var keyID: String
  /// A name for people.
  public var name: String
  /// The container for whose requests the key is valid.
  public var container: String
  /// The environment of the container.
  public var environment: ContainerEnvironment
  /// The public key as PEM text.
  public var publicKey: String
  /// The user record name of the key's user, who owns the records and subscriptions that the
  /// program saves: `_` and 32 hexadecimal digits.
  public var userRecordName: String
  /// The time of the key's registration.
  public var created: Timestamp
  /// The time at which the key was revoked; nil for a valid key.
  public var revoked: Timestamp?

  /// Creates a key. The text of the public key is not checked.
  public init(
    keyID: String, name: String, container: String, environment: ContainerEnvironment,
    publicKey: String, userRecordName: String, created: Timestamp, revoked: Timestamp? = nil
  ) {
    self.keyID = keyID
    self.name = name
    self.container = container
    self.environment = environment
    self.publicKey = publicKey
    self.userRecordName = userRecordName
    self.created = created
    self.revoked = revoked
  }
}
