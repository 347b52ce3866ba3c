import CloudKitModel

/// A web auth token. The store keeps only its hash.
public struct WebAuthToken: Sendable, Hashable {
  /// The session of a token from the sign-in page. Such a token is valid for one container's
  /// environment, and successors replace it while it is used. Tokens of native clients have no
  /// session.
  public struct Session: Sendable, Hashable {
    /// Shared by a token and all its successors.
    public var id: [UInt8]
    public var container: String
    public var environment: ContainerEnvironment
    /// How long each of the session's tokens lives, in seconds.
    public var lifetime: Double
    /// Whether a request has come with this token.
    public var isUsed: Bool

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
  public var userRecordName: String
  public var created: Timestamp
  public var expires: Timestamp
  /// Nil for the constant token of a native client, which is valid for all containers.
  public var session: Session?

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
