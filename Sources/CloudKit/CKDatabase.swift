/// One database of a container.
public class CKDatabase: NSObject, @unchecked Sendable {
  public typealias Scope = CKDatabaseScope

  /// Whether it is the public, the private or the shared database.
  public let databaseScope: Scope

  package init(scope: Scope) {
    databaseScope = scope
  }
}
