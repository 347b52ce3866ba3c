import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func applicationPermissions(
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws -> [ApplicationPermission: ApplicationPermission.Status] {
    let rows = try await read {
      try $0.connection.rows(
        """
        SELECT permission, status FROM application_permissions
        WHERE container = $1 AND environment = $2 AND user_record_name = $3
        """,
        [.text(container), .text(environment.rawValue), .text(userRecordName)]
      ) { ($0.text(0), $0.text(1)) }
    }
    var statuses: [ApplicationPermission: ApplicationPermission.Status] = [:]
    for (permission, status) in rows {
      guard let permission = ApplicationPermission(rawValue: permission),
        let status = ApplicationPermission.Status(rawValue: status)
      else {
        throw StoreError(
          .corrupt, "the store has the unknown permission '\(permission)' = '\(status)'")
      }
      statuses[permission] = status
    }
    return statuses
  }

  public func setApplicationPermissions(
    _ statuses: [ApplicationPermission: ApplicationPermission.Status],
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws {
    try await write(locking: .reference) { session in
      try session.refuseDeleted(userRecordName)
      for (permission, status) in statuses {
        try session.connection.run(
          """
          INSERT INTO application_permissions
            (container, environment, permission, user_record_name, status)
          VALUES ($1, $2, $3, $4, $5)
          ON CONFLICT (container, environment, permission, user_record_name)
          DO UPDATE SET status = excluded.status
          """,
          [
            .text(container), .text(environment.rawValue), .text(permission.rawValue),
            .text(userRecordName), .text(status.rawValue),
          ])
      }
    }
  }

  public func discoverableUsers(
    matching lookups: [UserLookup], container: String, environment: ContainerEnvironment
  ) async throws -> [User?] {
    try await read { session in
      try lookups.map { lookup in
        for (statement, argument) in Self.searches(for: lookup) {
          let user = try session.connection.first(
            statement, Self.discoverability(container, environment) + [.text(argument)],
            User.init)
          if let user { return user }
        }
        return nil
      }
    }
  }

  public func discoverableUsers(
    container: String, environment: ContainerEnvironment, limit: Int
  ) async throws -> [User] {
    try await read {
      try $0.connection.rows(
        discoverable + " ORDER BY users.user_record_name LIMIT $5",
        Self.discoverability(container, environment) + [.integer(Int64(limit))], User.init)
    }
  }

  private static func discoverability(
    _ container: String, _ environment: ContainerEnvironment
  ) -> [SQLValue] {
    [
      .text(container), .text(environment.rawValue),
      .text(ApplicationPermission.userDiscoverability.rawValue),
      .text(ApplicationPermission.Status.granted.rawValue),
    ]
  }

  /// The statements that may find the user, with what each looks for. What is no address or number
  /// finds nobody.
  private static func searches(for lookup: UserLookup) -> [(String, String)] {
    var searches: [(String, String)] = []
    if let name = lookup.userRecordName {
      searches.append((discoverable + " AND users.user_record_name = $5", name))
    }
    if let email = lookup.emailAddress.flatMap({ try? UserLookup.canonicalEmailAddress($0) }) {
      searches.append((discoverable + " AND users.email = $5", email))
    }
    if let phone = lookup.phoneNumber.flatMap({ try? UserLookup.canonicalPhoneNumber($0) }) {
      searches.append((discoverable + " AND users.phone = $5", phone))
    }
    return searches
  }
}

/// The users who permit it to be found in a container's environment.
private let discoverable =
  User.selection + """
     JOIN application_permissions
      ON application_permissions.user_record_name = users.user_record_name
    WHERE application_permissions.container = $1 AND application_permissions.environment = $2
      AND application_permissions.permission = $3 AND application_permissions.status = $4
    """
