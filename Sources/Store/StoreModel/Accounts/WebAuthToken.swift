import CloudKitModel

/// A web auth token, which proves in requests that a user has signed in. The store keeps only its
/// hash, so a stolen store contains no usable tokens.
public struct WebAuthToken: Sendable, Hashable {
  /// The session of a token from the sign-in page. Such a token is valid for one container's
  /// environment, and successors replace it while it is used. Tokens of native clients have no
  /// session.
  public struct Session: Sendable, Hashable {
    /// The session's ID, which a token and all its successors share.
    public var id: [UInt8]
    /// The container whose sign-in page made the session.
    public var container: String
    /// The environment of the container.
    public var environment: ContainerEnvironment
    /// The lifetime of each of the session's tokens, in seconds.
    public var lifetime: Double
    /// Whether a request has come with this token.
    public var isUsed: Bool

    /// Creates a session for a new or restored token.
    public init(
      id: [UInt8], container: String, environment: ContainerEnvironment, lifetime: Double,
      isUsed: Bool = false
    ) {
      self.id = id
      self.container = container
      self.environment = environment
      self.lifetime = lifetime
      self.isUsed = isUsed
    }
  }

  /// SHA-256 of the token's text.
  public var hash: [UInt8]
  /// The signed-in user.
  public var userRecordName: String
  /// The time at which the server made the token.
  public var created: Timestamp
  /// The time from which the server refuses the token.
  public var expires: Timestamp
  /// The session of the token; nil for the constant token of a native client, which is valid for
  /// all containers.
  public var session: Session?

  /// Creates a token from its hash and its rights.
  public init(
    hash: [UInt8], userRecordName: String, created: Timestamp, expires: Timestamp,
    session: Session? = nil
  ) {
    self.hash = hash
    self.userRecordName = userRecordName
    self.created = created
    self.expires = expires
    self.session = session
  }
}
