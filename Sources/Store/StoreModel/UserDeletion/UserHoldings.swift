import CloudKitModel

/// The store's data on a user's account besides the profile, without credentials. It is part of the
/// export that a user can ask for.
public struct UserHoldings: Sendable, Hashable {
  /// A valid web auth token.
  public struct Token: Sendable, Hashable {
    /// The time at which the user signed in or got the token.
    public var created: Timestamp
    /// The time at which the token expires.
    public var expires: Timestamp
    /// The container's environment that a session in a web app is for; nil for a token of native
    /// clients.
    public var session: ContainerPlace?

    /// Creates a token without its hash.
    package init(created: Timestamp, expires: Timestamp, session: ContainerPlace? = nil) {
      self.created = created
      self.expires = expires
      self.session = session
    }
  }

  /// An identity at an OpenID Connect issuer with which the user signs in.
  public struct Identity: Sendable, Hashable {
    /// The issuer and its name for the user.
    public var identity: IssuedIdentity
    /// The time of the first sign-in with the identity.
    public var created: Timestamp

    /// Creates an identity with the time of its first use.
    package init(identity: IssuedIdentity, created: Timestamp) {
      self.identity = identity
      self.created = created
    }
  }

  /// A security role that the user was granted.
  public struct Role: Sendable, Hashable {
    /// The container's environment that has the role.
    public var place: ContainerPlace
    /// The role's name.
    public var role: String

    /// Creates a granted role.
    package init(place: ContainerPlace, role: String) {
      self.place = place
      self.role = role
    }
  }

  /// A decision of the user for the app of a container.
  public struct Permission: Sendable, Hashable {
    /// The container's environment.
    public var place: ContainerPlace
    /// The permission.
    public var permission: ApplicationPermission
    /// The decision.
    public var status: ApplicationPermission.Status

    /// Creates a decision for one permission.
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

  /// The time of the last change of the password; nil if there is none.
  public var passwordChanged: Timestamp?
  /// The identities with which the user signs in.
  public var identities: [Identity]
  /// The tokens that have not expired, those that expire last first, at most ``tokenLimit``.
  public var tokens: [Token]
  /// The roles that the user was granted.
  public var roles: [Role]
  /// The user's decisions for apps.
  public var permissions: [Permission]

  /// Creates the holdings of a user.
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
