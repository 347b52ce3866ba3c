import CloudKitModel
import SQLEngine
import StoreModel

/// The decisions of users about the permissions of apps. A permission has no row if the user never
/// decided about it.
struct ApplicationPermissionTable: Table {
  let transaction: StoreTransaction

  /// `permission` and `status` are the names in the protocol.
  static let definition = [
    """
    CREATE TABLE application_permissions (
      container TEXT NOT NULL, environment TEXT NOT NULL, permission TEXT NOT NULL,
      user_record_name TEXT NOT NULL, status TEXT NOT NULL,
      PRIMARY KEY (container, environment, permission, user_record_name))
    """
  ]

  func statuses(
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) throws -> [ApplicationPermission: ApplicationPermission.Status] {
    var statuses: [ApplicationPermission: ApplicationPermission.Status] = [:]
    try connection.query(
      sql.statuses, [.text(container), .text(environment.rawValue), .text(userRecordName)]
    ) { row in
      guard let permission = ApplicationPermission(rawValue: row.text(0)),
        let status = ApplicationPermission.Status(rawValue: row.text(1))
      else {
        throw StoreError(
          .corrupt, "the store has the unknown permission '\(row.text(0))' = '\(row.text(1))'")
      }
      statuses[permission] = status
    }
    return statuses
  }

  /// In the order of containers, environments and permissions.
  func permissions(of userRecordName: String) throws -> [UserHoldings.Permission] {
    try connection.rows(sql.permissions, [.text(userRecordName)]) { row in
      guard let permission = ApplicationPermission(rawValue: row.text(2)),
        let status = ApplicationPermission.Status(rawValue: row.text(3))
      else { throw StoreError(.corrupt, "the store has an unknown permission of a user") }
      return UserHoldings.Permission(
        place: try ContainerPlace(row: row), permission: permission, status: status)
    }
  }

  func set(
    _ permission: ApplicationPermission, to status: ApplicationPermission.Status,
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) throws {
    try decide(
      sql.set,
      [
        .text(container), .text(environment.rawValue), .text(permission.rawValue),
        .text(userRecordName), .text(status.rawValue),
      ])
  }

  struct Statements {
    let statuses: Statement = """
      SELECT permission, status FROM application_permissions
      WHERE container = $1 AND environment = $2 AND user_record_name = $3
      """
    let permissions = """
      SELECT container, environment, permission, status FROM application_permissions
      WHERE user_record_name = $1 ORDER BY container, environment, permission
      """.except(.wholeTable)
    let set: Statement = """
      INSERT INTO application_permissions
        (container, environment, permission, user_record_name, status)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (container, environment, permission, user_record_name)
      DO UPDATE SET status = excluded.status
      """
  }
  static let sql = Statements()
}
