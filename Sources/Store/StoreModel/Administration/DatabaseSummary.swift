import CloudKitModel

/// A database in a list for administrators.
public struct DatabaseSummary: Sendable, Hashable {
  /// The name of a database within its container's environment.
  public struct Name: Sendable, Hashable {
    /// The scope: public, private or shared.
    public var scope: DatabaseScope
    /// The owner's user record name; empty for the public database.
    public var owner: String

    /// Names a database of a container's environment.
    public init(scope: DatabaseScope, owner: String) {
      self.scope = scope
      self.owner = owner
    }
  }

  /// The number under which the store keeps the database.
  public var id: DatabaseID
  /// The database's scope and owner.
  public var name: Name
  /// The name of the owner's account; nil for the public database and for an owner without an
  /// account, such as a server-to-server key.
  public var userName: String?

  package init(id: DatabaseID, name: Name, userName: String? = nil) {
    self.id = id
    self.name = name
    self.userName = userName
  }
}

/// One environment of a container. Each schema, credential and database belongs to one such pair.
public struct ContainerPlace: Sendable, Hashable {
  /// The container's identifier, such as `iCloud.com.example.app`.
  public var container: String
  /// The environment: development or production.
  public var environment: ContainerEnvironment

  /// Names an environment. The container's identifier is not checked.
  public init(container: String, environment: ContainerEnvironment) {
    self.container = container
    self.environment = environment
  }
}

/// A page of a search through subscriptions.
public struct SubscriptionSearch: Sendable, Hashable {
  /// The most subscriptions that one call examines.
  public static let budget = 5_000

  /// The subscriptions that the caller selected, in the order of subscribers and IDs.
  public var found: [StoredSubscription]
  /// The `last` of the next call; nil at the end. It can be set although ``found`` has fewer
  /// elements than the limit (``budget``).
  public var next: SubscriptionName?

  package init(found: [StoredSubscription], next: SubscriptionName? = nil) {
    self.found = found
    self.next = next
  }
}
