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

  /// Creates a list element.
  package init(id: DatabaseID, name: Name, userName: String? = nil) {
    self.id = id
    self.name = name
    self.userName = userName
  }
}
