import CloudKitModel
import SQLEngine
import StoreModel

/// The roles that schemas create, unlike the system's such as `_world`, and their members.
///
/// After a change, the caller must raise the catalog version
/// (``CounterTable/raiseCatalogVersion()``), because connections cache the roles of users.
struct RoleTable: Table {
  let transaction: StoreTransaction

  /// A role without a row in `security_roles` has no members.
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

  func custom(
    of container: String, in environment: ContainerEnvironment
  ) throws -> Set<String> {
    Set(try connection.texts(sql.custom, [.text(container), .text(environment.rawValue)]))
  }

  /// The schema must not have the role yet.
  func add(_ role: String, in container: String, _ environment: ContainerEnvironment) throws {
    try decide(sql.add, [.text(container), .text(environment.rawValue), .text(role)])
  }

  func remove(_ role: String, in container: String, _ environment: ContainerEnvironment) throws {
    for statement in [sql.removeMembers, sql.remove] {
      try decide(statement, [.text(container), .text(environment.rawValue), .text(role)])
    }
  }

  // MARK: Members

  /// `_world`, `_icloud` for a signed-in user, and those granted to the user; not `_creator`,
  /// which depends on the record.
  ///
  /// The connection's ``Catalog`` caches the roles of up to 50,000 users; a full cache is emptied.
  ///
  /// - Complexity: O(1) once the user's roles are cached.
  func roles(of userRecordName: String?, at address: DatabaseAddress) throws -> Set<String> {
    guard let userRecordName else { return [RecordGrants.SystemRole.world] }
    let key = Catalog.MemberKey(
      container: address.container, environment: address.environment,
      userRecordName: userRecordName)
    if let known = transaction.catalog.roles[key] { return known }
    var roles: Set = [RecordGrants.SystemRole.world, RecordGrants.SystemRole.icloud]
    try connection.query(
      sql.roles, [.text(key.container), .text(key.environment.rawValue), .text(userRecordName)]
    ) { roles.insert($0.text(0)) }
    if transaction.catalog.roles.count >= 50_000 { transaction.catalog.roles = [:] }
    transaction.catalog.roles[key] = roles
    return roles
  }

  func roles(of userRecordName: String) throws -> [UserHoldings.Role] {
    try connection.rows(sql.ofUser, [.text(userRecordName)]) {
      UserHoldings.Role(place: try ContainerPlace(row: $0), role: $0.text(2))
    }
  }

  func members(
    of role: String, in container: String, _ environment: ContainerEnvironment
  ) throws -> [String] {
    try connection.texts(sql.members, [.text(container), .text(environment.rawValue), .text(role)])
  }

  func setMembership(
    _ isMember: Bool, of userRecordName: String, in role: String, of container: String,
    _ environment: ContainerEnvironment
  ) throws {
    try decide(
      isMember ? sql.addMember : sql.removeMember,
      [.text(container), .text(environment.rawValue), .text(userRecordName), .text(role)])
  }

  struct Statements {
    let custom: Statement =
      "SELECT name FROM security_roles WHERE container = $1 AND environment = $2"
    let add: Statement =
      "INSERT INTO security_roles (container, environment, name) VALUES ($1, $2, $3)"
    let removeMembers: Statement =
      "DELETE FROM role_members WHERE container = $1 AND environment = $2 AND role = $3"
    let remove: Statement =
      "DELETE FROM security_roles WHERE container = $1 AND environment = $2 AND name = $3"
    let roles: Statement = """
      SELECT role FROM role_members
      WHERE container = $1 AND environment = $2 AND user_record_name = $3
      """
    let ofUser = """
      SELECT container, environment, role FROM role_members WHERE user_record_name = $1
      ORDER BY container, environment, role
      """.except(.wholeTable)
    let members: Statement = """
      SELECT user_record_name FROM role_members
      WHERE container = $1 AND environment = $2 AND role = $3 ORDER BY user_record_name
      """
    let addMember: Statement = """
      INSERT INTO role_members (container, environment, user_record_name, role)
      VALUES ($1, $2, $3, $4)
      ON CONFLICT (container, environment, user_record_name, role) DO NOTHING
      """
    let removeMember: Statement = """
      DELETE FROM role_members WHERE container = $1 AND environment = $2
        AND user_record_name = $3 AND role = $4
      """
  }
  static let sql = Statements()
}

extension AccessPolicy {
  /// By the grants of the type and the roles of the caller.
  ///
  /// For a type that the schema does not have yet, the standard grants decide: saving its first
  /// record creates it with these.
  ///
  /// - Complexity: O(*r*) for *r* roles of the user, once type and roles are cached.
  static func access(
    of caller: Caller, toType name: String, at address: DatabaseAddress,
    in transaction: StoreTransaction
  ) throws -> RecordAccess {
    if let access = access(of: caller, in: address.scope) { return access }
    let grants =
      try RecordTypeTable(transaction: transaction).type(named: name, at: address)?.grants
      ?? .standard
    let roles = try RoleTable(transaction: transaction).roles(
      of: caller.userRecordName, at: address)
    return access(of: caller, roles: roles, under: grants)
  }
}
