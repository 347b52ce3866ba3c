import CloudKitModel

/// The store's data on a user's account besides the profile, without credentials.
public struct UserHoldings: Sendable, Hashable {
  /// A valid web auth token.
  public struct Token: Sendable, Hashable {
    public var created: Timestamp
    public var expires: Timestamp
    /// The container's environment that a session in a web app is for; nil for a token of native
    /// clients.
    public var session: ContainerPlace?

    package init(created: Timestamp, expires: Timestamp, session: ContainerPlace? = nil) {
      self.created = created
      self.expires = expires
      self.session = session
    }
  }

  public struct Identity: Sendable, Hashable {
    public var identity: IssuedIdentity
    public var created: Timestamp

    package init(identity: IssuedIdentity, created: Timestamp) {
      self.identity = identity
      self.created = created
    }
  }

  public struct Role: Sendable, Hashable {
    public var place: ContainerPlace
    public var role: String

    package init(place: ContainerPlace, role: String) {
      self.place = place
      self.role = role
    }
  }

  public struct Permission: Sendable, Hashable {
    public var place: ContainerPlace
    public var permission: ApplicationPermission
    public var status: ApplicationPermission.Status

    package init(
      place: ContainerPlace, permission: ApplicationPermission,
      status: ApplicationPermission.Status
    ) {
      self.place = place
      self.permission = permission
      self.status = status
    }
  }

  /// The most tokens in ``tokens``: those that expire last.
  public static let tokenLimit = 1_000

  /// When the password was last changed; nil if there is none.
  public var passwordChanged: Timestamp?
  public var identities: [Identity]
  public var tokens: [Token]
  public var roles: [Role]
  public var permissions: [Permission]

  package init(
    passwordChanged: Timestamp? = nil, identities: [Identity], tokens: [Token], roles: [Role],
    permissions: [Permission]
  ) {
    self.passwordChanged = passwordChanged
    self.identities = identities
    self.tokens = tokens
    self.roles = roles
    self.permissions = permissions
  }
}
