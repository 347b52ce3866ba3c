import CloudKitModel

/// A web auth token, which proves in requests that a user has signed in. The store has only the
/// token's hash, so a thief of the store gets no usable token.
public struct WebAuthToken: Sendable, Hashable {
  /// The session of a token from the sign-in page. All tokens of a session are valid for the same
  /// environment of one container. While an app uses the session, newer tokens replace older ones.
  /// Tokens of native clients have no session.
  public struct Session: Sendable, Hashable {
    /// The session's ID. All tokens of the session have it.
    public var id: [UInt8]
    /// The container whose sign-in page made the session.
    public var container: String
    /// The environment of the container.
    public var environment: ContainerEnvironment
    /// The lifetime of each of the session's tokens, in seconds.
    public var lifetime: Double
    /// Whether the server has received a request with this token.
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
  /// The identity of the sign-in that the token proves: the ID of its session, or the hash of a native
  /// client's constant token. All tokens of a session have the same.
  public var signIn: [UInt8] { session?.id ?? hash }

  /// Creates a token from its hash, its user, its times and its session.
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
