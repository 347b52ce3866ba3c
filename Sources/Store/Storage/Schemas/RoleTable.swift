import CloudKitModel
import SQLEngine
import StoreModel

/// The custom roles in the schemas of containers, and the users who are their members. A custom
/// role is one that the schema creates, unlike the system's roles such as `_world`.
///
/// After a change, the caller must raise the catalog version
/// (``CounterTable/raiseCatalogVersion()``), because connections cache the roles of users.
struct RoleTable {
  let transaction: StoreTransaction
  private var connection: any SQLConnection { transaction.connection }

  /// The tables of roles and of their members. A role without a row in `security_roles` has no
  /// members.
  static let definition = [
    """
    CREATE TABLE security_roles (
      container TEXT NOT NULL, environment TEXT NOT NULL, name TEXT NOT NULL,
      PRIMARY KEY (container, environment, name))
    """,
    """
    CREATE TABLE role_members (
      container TEXT NOT NULL, environment TEXT NOT NULL, user_record_name TEXT NOT NULL,
      role TEXT NOT NULL, PRIMARY KEY (container, environment, user_record_name, role))
    """,
  ]

  /// Returns the names of the custom roles in the schema of a container.
  func custom(
    of container: String, in environment: ContainerEnvironment
  ) throws -> Set<String> {
    Set(
      try connection.rows(
        "SELECT name FROM security_roles WHERE container = $1 AND environment = $2",
        [.text(container), .text(environment.rawValue)]
      ) { $0.text(0) })
  }

  /// Adds a role without members. The schema must not have it yet.
  func add(_ role: String, in container: String, _ environment: ContainerEnvironment) throws {
    try connection.run(
      "INSERT INTO security_roles (container, environment, name) VALUES ($1, $2, $3)",
      [.text(container), .text(environment.rawValue), .text(role)])
  }

  /// Removes a role from the schema, and from all its members.
  func remove(_ role: String, in container: String, _ environment: ContainerEnvironment) throws {
    for statement in [
      "DELETE FROM role_members WHERE container = $1 AND environment = $2 AND role = $3",
      "DELETE FROM security_roles WHERE container = $1 AND environment = $2 AND name = $3",
    ] {
      try connection.run(
        statement, [.text(container), .text(environment.rawValue), .text(role)])
    }
  }

  // MARK: Members

  /// Returns the roles of a user in a container: `_world`, `_icloud` for a signed-in user, and
  /// those granted to the user. The role `_creator` is not among them, because it depends on the
  /// record.
  ///
  /// The connection's ``Catalog`` caches the roles of up to 50,000 users; a full cache is emptied.
  ///
  /// - Parameters:
  ///   - userRecordName: the user; nil for an anonymous caller.
  ///   - address: the address of the container and environment.
  /// - Complexity: O(1) once the user's roles are cached.
  func roles(of userRecordName: String?, at address: DatabaseAddress) throws -> Set<String> {
    guard let userRecordName else { return [RecordGrants.SystemRole.world] }
    let key = Catalog.MemberKey(
      container: address.container, environment: address.environment,
      userRecordName: userRecordName)
    if let known = transaction.catalog.roles[key] { return known }
    var roles: Set = [RecordGrants.SystemRole.world, RecordGrants.SystemRole.icloud]
    try connection.query(
      """
      SELECT role FROM role_members
      WHERE container = $1 AND environment = $2 AND user_record_name = $3
      """,
      [.text(key.container), .text(key.environment.rawValue), .text(userRecordName)]
    ) { roles.insert($0.text(0)) }
    if transaction.catalog.roles.count >= 50_000 { transaction.catalog.roles = [:] }
    transaction.catalog.roles[key] = roles
    return roles
  }

  /// Returns the roles granted to a user in all containers.
  func roles(of userRecordName: String) throws -> [UserHoldings.Role] {
    try connection.rows(
      """
      SELECT container, environment, role FROM role_members WHERE user_record_name = $1
      ORDER BY container, environment, role
      """, [.text(userRecordName)]
    ) { UserHoldings.Role(place: try ContainerPlace(row: $0), role: $0.text(2)) }
  }

  /// Returns the users who were granted a role, in the order of their record names.
  func members(
    of role: String, in container: String, _ environment: ContainerEnvironment
  ) throws -> [String] {
    try connection.rows(
      """
      SELECT user_record_name FROM role_members
      WHERE container = $1 AND environment = $2 AND role = $3 ORDER BY user_record_name
      """, [.text(container), .text(environment.rawValue), .text(role)]
    ) { $0.text(0) }
  }

  /// Grants a role to a user, or revokes it. The method does nothing if the user has the role
  /// already, or does not have the role to be revoked.
  ///
  /// - Parameter isMember: true to grant the role, false to revoke it.
  func setMembership(
    _ isMember: Bool, of userRecordName: String, in role: String, of container: String,
    _ environment: ContainerEnvironment
  ) throws {
    try connection.run(
      isMember
        ? """
        INSERT INTO role_members (container, environment, user_record_name, role)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (container, environment, user_record_name, role) DO NOTHING
        """
        : """
        DELETE FROM role_members WHERE container = $1 AND environment = $2
          AND user_record_name = $3 AND role = $4
        """,
      [.text(container), .text(environment.rawValue), .text(userRecordName), .text(role)])
  }
}
