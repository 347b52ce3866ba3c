import CloudKitModel

/// What a store has of a user's account beside the profile, without what opens anything.
public struct UserHoldings: Sendable, Hashable {
  /// A web auth token that is good still.
  public struct Token: Sendable, Hashable {
    public var created: Timestamp
    public var expires: Timestamp
    /// The place that a session in a web app is for; nil for a token of native clients.
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

  /// Tokens in ``tokens`` at most: those that expire last.
  public static let tokenLimit = 1_000

  /// When the password was changed last; nil where there is none.
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
