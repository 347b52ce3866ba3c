import CloudKitModel

/// A database in a list.
public struct DatabaseSummary: Sendable, Hashable {
  /// Identifies a database within its container's environment.
  public struct Name: Sendable, Hashable {
    public var scope: DatabaseScope
    /// A user record name; empty for the public database.
    public var owner: String

    public init(scope: DatabaseScope, owner: String) {
      self.scope = scope
      self.owner = owner
    }
  }

  public var id: DatabaseID
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
